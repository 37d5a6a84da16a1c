// A button at each block of code that copies it.
(() => {
  "use strict";

  function addButton(block) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const code = block.querySelector("pre").cloneNode(true);
      code.querySelectorAll(".linenos").forEach((number) => number.remove());
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.append(button);
  }

  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("div.highlight").forEach(addButton));
})();
