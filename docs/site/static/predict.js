// Predictions: a field for the reader's own before an answer opens, and then that beside ours and what was measured. They stay in this
// browser. The page of all of them has a list in place of the fields (stage.py).
(() => {
  "use strict";

  const key = (question) => `prediction ${question.id}`;

  const ownKey = (question) => `measured ${question.id}`; // on the reader's device

  function kept(question) {
    const text = localStorage.getItem(key(question));
    return text === null ? null : Number(text);
  }

  // How far off a number is, in words.
  function distance(yours, measured) {
    if (yours === measured) return "exactly that";
    if (yours <= 0) return "no number above 0";
    const factor = Math.max(yours / measured, measured / yours);
    const percent = Math.max(1, Math.round(100 * Math.abs(yours / measured - 1)));
    return `${factor < 2 ? `${percent} percent` : `${factor.toPrecision(2)} times`} too ${yours < measured ? "low" : "high"}`;
  }

  // The numbers on one line, on a logarithmic bar where they lie far apart.
  function bar(numbers) {
    const values = numbers.map(([, value]) => value);
    const [least, most] = [Math.min(...values), Math.max(...values)];
    const place = least > 0 && most / least > 20 ? (value) => 0.05 + 0.9 * Math.log(value / least) / Math.log(most / least) : (value) => 0.95 * Math.max(value, 0) / (most || 1);
    return element("span", { className: "bar", ariaHidden: "true" }, ...numbers.map(([name, value]) => {
      const mark = element("span", { className: `mark ${name}` });
      mark.style.left = `${100 * place(value)}%`;
      return mark;
    }));
  }

  // What came of a prediction.
  function outcome(question, yours) {
    if (question.kind === "choice") {
      const right = yours === question.right;
      return element("p", { className: "outcome" }, `Yours: ${question.choices[yours]}. `,
        element("strong", {}, right ? "That is it." : `It is: ${question.choices[question.right]}.`));
    }
    const numbers = [["yours", yours], ...(question.ours ? [["ours", Number(question.ours)]] : []), ["measured", Number(question.measured)]];
    if (localStorage.getItem(ownKey(question))) numbers.push(["here", Number(localStorage.getItem(ownKey(question)))]);
    return element("p", { className: "outcome" },
      ...numbers.flatMap(([name, value], at) => [at ? " · " : "", element("span", { className: name }, `${name} ${value}`)]), ` ${question.unit}`, bar(numbers),
      `Yours is ${distance(yours, Number(question.measured))}. Measured on ${question.where}.`);
  }

  function fields(question) {
    if (question.kind === "choice") {
      return element("fieldset", {}, element("legend", {}, question.ask || "Your prediction"), ...question.choices.map((words, value) =>
        element("label", {}, element("input", { type: "radio", name: question.id, value, required: true }), ` ${words}`)));
    }
    return element("label", {}, question.ask || "Your prediction", " ", element("input", { type: "number", step: "any", min: 0, max: question.unit.startsWith("percent of") ? 100 : "", required: true }), ` ${question.unit}, on ${question.where}`);
  }

  // Before an answer: the fields. The answer is there once all that is asked for it is foretold, or given up.
  function ask(place, question, answer) {
    const form = element("form", {}, fields(question), " ", element("button", { textContent: "That is my prediction" }), " ",
      element("button", { type: "button", className: "skip", textContent: "Show the answer" }));
    const own = element("input", { type: "number", step: "any", min: 0, value: localStorage.getItem(ownKey(question)) ?? "" });
    const measured = question.kind === "choice" ? [] : [element("p", {}, element("label", {}, "Measured here, on your device: ", own, ` ${question.unit}`))];
    own.addEventListener("change", () => {
      if (own.value) localStorage.setItem(ownKey(question), own.value);
      else localStorage.removeItem(ownKey(question));
      place.querySelector(".outcome").replaceWith(outcome(question, kept(question)));
    });
    const again = element("button", { type: "button", textContent: "Predict again" });
    const after = element("p", {}, again, " ", element("a", { href: place.dataset.all, textContent: "All your predictions" }));

    function show() {
      const yours = kept(question);
      place.replaceChildren(...(yours === null ? [form] : [outcome(question, yours), ...measured, after]));
    }

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      localStorage.setItem(key(question), form.querySelector("input[type=number], input:checked").value);
      show();
      answer.hidden = isAwaited(answer);
      answer.open = !answer.hidden;
      again.focus();
    });
    form.querySelector(".skip").addEventListener("click", () => {
      answer.hidden = false;
      answer.open = true;
    });
    again.addEventListener("click", () => {
      localStorage.removeItem(key(question));
      show();
      form.querySelector("input").focus();
    });
    place.answer = answer;
    show();
  }

  function isAwaited(answer) {
    return [...document.querySelectorAll(".predict:has(form)")].some((place) => place.answer === answer);
  }

  // All of them, chapter by chapter, with what is foretold and how far off.
  function list(place, questions) {
    const done = questions.filter((question) => kept(question) !== null);
    const choices = done.filter((question) => question.kind === "choice");
    const right = choices.filter((question) => kept(question) === question.right).length;
    place.append(element("p", {}, done.length === 0 ? `None of ${questions.length} yet: each lesson asks under "Predict, then run".`
      : `You have answered ${done.length} of ${questions.length}. Of those with a choice you have ${right} of ${choices.length} right.`));
    let page = "";
    for (const question of questions) {
      const [of, number] = question.title.split(", ");
      if (of !== page) place.append(element("h2", {}, of));
      page = of;
      const yours = kept(question);
      place.append(element("p", {}, element("a", { href: question.link }, number ?? "A question"), `: ${question.text}`, yours === null ? " (open)" : ""),
        ...(yours === null ? [] : [outcome(question, yours)]));
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const place of document.querySelectorAll(".predict")) {
      const asked = JSON.parse(place.dataset.asked);
      if (Array.isArray(asked)) list(place, asked);
      else {
        let answer = place.nextElementSibling;
        while (answer && answer.tagName !== "DETAILS") answer = answer.nextElementSibling;
        ask(place, asked, answer);
        answer.hidden = isAwaited(answer);
      }
    }
  });
})();
