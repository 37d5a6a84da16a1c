// Written by docs/site/play_data.py from docs/results and images/landscape.bmp.
(function (root) {
const playData = {
 "lanes": {
  "device": "NVIDIA H100 80GB HBM3",
  "api": "CUDA",
  "size": "256 MiB",
  "date": "2026-11-22",
  "ms": {
   "photo": {
    "32": 0.09406,
    "1": 0.1105,
    "8": 0.1187
   },
   "uniform": {
    "32": 0.09603,
    "1": 0.1257,
    "8": 0.1169
   },
   "constant": {
    "32": 0.09418,
    "1": 0.09355,
    "8": 0.09475
   },
   "ramp": {
    "32": 0.09389,
    "1": 0.2804,
    "8": 0.09482
   }
  }
 },
 "walks": [
  {
   "device": "NVIDIA H100 80GB HBM3",
   "api": "CUDA",
   "size": "256 MiB",
   "date": "2026-11-22",
   "strategy": "local",
   "launches": {
    "264 groups of 256": {
     "interleaved": 1.512,
     "blocked": 0.8473
    },
    "1056 groups of 256": {
     "interleaved": 0.3925,
     "blocked": 1.521
    }
   }
  },
  {
   "device": "pthread-skylake-avx512-Intel(R) Xeon(R) Processor",
   "api": "OpenCL",
   "size": "16 MiB",
   "date": "2026-11-22",
   "strategy": "racy",
   "launches": {
    "1 group of 256": {
     "interleaved": 137.1,
     "blocked": 26.59
    },
    "2 groups of 256": {
     "interleaved": 100.8,
     "blocked": 39.09
    }
   }
  }
 ],
 "photo": [
  "UlJTU1RVVVZXVldXWFhYWFhYWVlaWlpbXF1dXV5fX2BhYmJjZWVmZ2hqamxtb3BycnR1dXZ4eHp6fX1+f4CBgoOEhoaIiYqMjY2Ojo6Pjo+RkZOUk5SUlJeYmJeXl5WUk5KSkZOTk5OUlZWVk5KPjoyMjIyNjY2Njo2MjIuKh4eHh4eGiImJiYqLjYyNjpCSkpKRkZGRkZGSkZGRkpOVl5mampyen6Kjpqeoqaqrq6urq6qqq6uqqaqoqKioqKioqKmpqKmpqamqqampqaqrqqmoqKenqaiop6akoqGgoJ+fnp2dnJuamJeVlpWUlZSUlJWWlZWVlZaVlpWVlpWWlZWWlpaXmZiXmJmam56eoKGioqKkpaWlpaamp6inpqWko6KhoqKipKaoqqusq6ysraytrKurrK2vsLGxsrO0tre5u7y8vb6/vr+/wL+/wMHAwL+/v7++vb69vb29vb28vb6+vb29vr29vby9vb29vr2+v76/vr6+vb6+vr6+v7/Av8HBwsHDxMPFxsXHx8fHyMfIyMjJycrKycnJycnJyMjJycjIyMjHyMfIx8fGxsXFxMXDxMPDwsLCwb++vb28vLy7vLu7urq6urm4ubi5ubm5ubm5ubi4t7e3t7a2tbW0srKysrKysbKzsrKztLO1tbW1tra1tra3trW0tLS0s7I=",
  "o6SkpKalpKWlpaSjpKSkpaampqioqKmpqampqamoqKmpqqqrra6vr7CysrOztbW1tre2tre3t7m4ubi5ubq6ubq6urq6u7u6u7u7vLu9vLy9vb29vb+/v8DAwMDAwcDBwMDAwMDAwMHAwMC/v7+/v7++v729vLq6urq7u7u7u7u8vb2+wL/AwMHCwsPDxMTDw8PDxMTDw8LDw8PExMPEw8TDw8TEw8TExMXFxcXFxcXFxMTEw8LCwsLBwb/Av7++vr6+vr28vbu7u7u7vLy8vb69vb28u7u6ubi4trW0tLOysrGwr6+urq6urq6trq6vsLCxsK6traqopqWkpKSkoqKhoqKhoaChoqKjpKWmpaWlpaWlpaSmpqampqanqKmoqKmqra6vsLG0srS0tLS1tLSzsrGxsLGxs7Ozs7O0s7OysrCysLGxsa+vr7Cvrq6uraysq6uqq6qqqainpqanp6ipqKipqKioqaioqamqqqqoqKimo6Ggn6CgnZyamJaVk5KRjo2JhoKBfnx6eHh3dnV1dXV2dXV1dnZ4eHd2c3JwbWxsbGxsbGxtbWxqamhoZmViYF5cXFxbXFxaW1tcW1tbW1tbW1taWlpbWlpaWVpaWltZWlpZWlpZWllaWVlaWVpYWVlaWVlZWVlZWVlYWFhYWFlZWFhZWFhYV1hZWFk=",
  "iIiJiYqJioqKiYuLi4uMjIyMjYyNjY6Nj46OjpCQkJCPkJGRkZKSk5KTk5OUlZSVlZWWlpaWl5eYmJmamZqampubm5ycnZ2enZ6fn6CgoaChoaKio6SjpKSlpaalpqimqKmpqqurra2ur6+wr7GwsK+wsLCxsbKxsrK0tLS0tLW1tra2t7e4uLi5ubm6u7y8vb2+vr/Av8DCwsLCwsLDw8TFxMTFxMXGx8bHx8nIycnJycnJysnJycrJycnIyMfHx8fIx8fGyMjIyMjJyMjHx8fHycrKycjIycfHxMLAvry8u7q6ube1srCwraysqqmpqaiop6ampqakpKSko6OjoqGhoKCgn56enp6enJycnJybnJycnJ6ipKeoqKmrq66usLGztLm9wMLCxcjJy8zP0NDQ0NDPz87NysnHxcXDwb+9vLq6urq7urm4trOwr6qppaKhoJ+enJmXlpSUkpCPjY2LioqKiIiHhoaGhYaGhoWEhISCg4OCgoGBgoGDgYGAgYGAgYB/gICAf4CAf4B/f39/f35+f39+fn1+fn5+fn1+fn19fH19fX19fn18fXx8fXx8fHt8e3t8fHt7fHt8e3x8e3t8e3t7fHt8e3t6e3t7e3t7ent7enp5e3p6enp6enp6e3p6enp5eXl6enl6enl5eXl4enl6enl5enl4eXo=",
  "s7Gwrquop6enpqWmpqemp6ioqaqqqqurq6usra6vsLCxsrKxsbCvr6+vr6+wsLCxsK+wsbGxsbKysrKys7Ozs7OzsrO0s7S1tba2tba2t7i4urq7vby+v7/AwMDBwsPExMbHyMnKy8zMzc7P0NDT09TV1tjY2tzc3d7f4OHi4uPj4+Tk5eXn5+fo5+jp6err6+zt7e3u7u/w7+/w8PHw8fHy8/Pz9PT09PTz8vLy8fDv7+7t7ezs6+vp6Ofm5eTj4eDf3tzc29vb2tna2tna2drZ2dnZ2dnZ2NnZ2NjX1dTS0tHS0c/Q0NHR0dPU1Nfi1ePg3uzt1ujm6Oru5dvkwpu8vs2E0+br5eHj4d/l1tzGgHmdtZSAqpKRnqGkknnD2MPCmKq4t7e3tbW0tLO0s7O1tLS1tra2tra3uLm5u7y8u7u8uru6ubi3t7a1s7CtqKainp+fnp6enZycnJqZl5aVlZWWl5WXl5eZm52foqSkp6eoqKmpqKmoqKioqKinp6eop6enp6eop6enpqalpaako6KioqGhoKCfn56enp6dnZycnp6en56enp6dnp2enp+fn5+enZydnZ6goqapq62ur6+wsbKys7Kxr6Wb1qW/4N7j19nSy7eOeaGAGEAIAAAAAQOIDxUTp7/BwsPEw8TDw8PDxMXFxcXFxMTFxMQ=",
  "SDo9OTU2OT06Pjg8OzVBPD5AOD49Pz06OzlFQ0E9PDlFREE+Pj07QEVFR0Y9R0VDQUQ/PURAS0VFQDxJQz49Pz4/PD5APz0+Qz9AQD9CQz9AQURDQkFGRURAQ0hMRkRHRUlJRkZKS0xNTE5NTExNTlFOTlBPUU9QT1BNTlJSUVFNUU9OTUxNTVFPUE1TTlJVWFVRUVBPVlJOTk9NUFJPUk9OUU5PUlJLU1BTT1JPTk9RVVVNT1BPVE5VTUxWUkxMS1FSTktJRlpGSEZjdXlURkVJV3tGRG1mRERNRFtEREdHQktIQ0NGREJOSkNRT01LTEVIREhNSEJFS0NLU0dJRURGREFDRUZDQERARj9DQkNEQUVFRENCREJBQ0NGSEZBSEBBQDo9QU5aP0FDQkFEQD5DQkA9V0BBO0A+QjxDQT1DRkFAQT9AP0E/REFCRXJDQkZBPD9CXj1EPz8/Q0NKOz9APDxBUEQ6Pzw8Pj02O0FaQUBBPT1gP0NJPENAZD9DQUQ/QUNEQD4/Rj5COEFBO0pAOzo6OlQ7OTs3OTc4NTk4OTU1MjIzNTg0MDI1Nzk4NzY3NjEwMSs2ODAxMzc1OTY0NTUvMjg2NjUyMjMuHCwVFxARDw4OERYUFBASFhMWBwIFDRIRDAYFBhUeHxIKAAsXCBYVDyElNCsvHwcKAwM=",
  "Li0qKyopKy8sLCwkEQ8MDhMdCyYsLCsqJyYpKCotLCwrKykrLS0tLCsvLi0sMDEtLC0rLC4tLS0sKywsKissMS8tLi0tLCwsKyorKysrLi0sLi8uLS0rLS0sLDAuKystLSwsLSwsMTEuLSwtLjAvLS0tMS8vLi0sMCwuMC8vMDAuLi0sLSwrLC4uMTEzMC4vMC8uLy0vMTIuLy4uMDAuMDMwMC4wMjEyMC8vMzMxMjYxOTQ0RDwzMjdAOjo1M0I6NDQzMjk3NTxESkdCQ0VQO0FAOTU2QUVEQEI9OUVHQ0NFQjw+RERFPT1EQ0RFQ0ZGQ0JBQURBRERCRj5DQ0JAQEBCPzxAPjw/QUFCPz8/QkE9PD1AQUA9QkA+PT07QT89Ojw9PDw8PT4+PTo9Pj0+OT87PD0+Pz08PDw8Pjs+PTw8PTs8Oj08PDs+Pzw8PT48PDw9Pj48PDs7Ozs7OTo5Nzg4OTk5NTU2NTY2Nzc2Njg1Nzg0MjM0MzAyMjE0NTQ0NTMxMTIwNDM0NDQ0NDQyNDMyMzMyMzU1NTUxLzAwLzE0MDIyLy4wLi0uMDEzNDUzIQ4REgsKGA8LBwsKFhQNMjEuLiYfKCgwHgoyCwctDBgxMTExDQ8MCgwJBhEMKBQOEg0LBAIGDhEODwkfBAUICx4vKyoTDQ8TGA0BAQYcFBA=",
  "mpSTjls/Xz4OPRMTEDsNDQwMDSYRFTxbFT9gjo6Ojo6PkJGTkpWWl5ibm52foKBEDgkLSm1snp2cmpiYlpaWlpeYmZmampubnJydn5+hoaGhoqKioqKio6SlpqWmpqinp6moqaqrrK2ur7Gys7S0tre3t7m6vL3AwcLDxcXGyMnJysrLzc3O0NHR0tLT1dXW1tfY2NfX19bV1tbV1tbW1dXV09PS0NHNzsrHv7myq62qrq2qrauzq7W0rqyvr6+ysrW2sKqqqKuou7q4wru1qquprbC1r7a4v7+/wsHDxcLBwcS+uL3ExcjGxMG4sqWbiZadoZ+YpKy0rKKuuLbBvbu8ubOsn56in56TjIF2bWdjXVdfXVtlbHRqbnCBgoqLiYmNkIuRkpKUl5WXmJqZm5mYl5ucoaOjo6OioqCfnZ2bmpiYmJaWlJOSkI+Pj42Mi4iHhYSEg4ODg4OCg4KCgoGBgYGDgoKCg4OFhoaGh4mJiYqKioqJiYmJiYqKi42Ojo+Ojo+Pjo2OjY2NjIyMioqKiImIiIiIiYiIiIiIh4eHiIeGh4eHhoVbERVePgQFCEUKUggICAoJCVcPDAZOZk4uTTISNlB3MmR3dnV1dXV0dU0OTDF0DRAUFhIyDw41fwQBAgYJDxQRlg9KDwsDAAcPEw0GAwNHBgcGDQsLDAs=",
  "AgUECQ0HBQgOEhMRBQEBBAoKAQAAAAwWFQ0CAAMGCgYCAAABAgQGCAYFCQwQEBQXEQwKCg8SDQwOEA4JCAwNEA8MCQoKCQQDBgwQDQcGBQQHCwkFBwkIERcZUhNRFXkLMk57TQdQNXxPT3x8fH19UX1+Mn5RfX5+foB/f3+AgWxugYKCgoODg4WFhoeIiYuLjY6PkJCQkJGSkpOUlZaWlpeYmJiYmJmZmpmZmJiZmZiYmJiXl5eYl2qYl5iYmZmZmZmamZqbm5ycnZ2cnZ2enp+fnp+foKCKbaCfiJ6cnJqamZeWZ3+UkZGQjnmKdIeGhYaGhYaHhoeJiYmKiYuLi4uMjIyMi4yMdYqLioqIiYqIiYeGhoOCgIB/gH9/f4CAf4GCWISEhoaGh4eIiImJi4uKi4uLi3eLi4qLiYpziIiIcoaFhYODgYKBgH9+fHt6enh4dnZ1dHNycnBvbmtqaWdnZmVkZGJhYF9eXVxbW1pZWFdIV1ZWVVRVVVVVVVVVVVVVVlVVVVVVVlVVVVRUVVRVVVRVVVZWVVZWVVZWSCcmJyU0BiIjDxEREDkVFRAQEhESEQ0PCQABAgICBQgGBgwMCwwQEBAKAgABAwQAAAEAAgoNBAQICgwRFRIMCwYAAAABBAgEAgAABQ0VFA8HBQwRFBURDxAMDQ0OEBIMCwk="
 ]
};
if (typeof module === "object") module.exports = playData;
else root.playData = playData;
})(globalThis);
