"use strict";
// Shows what the server sends. All HTML is made and escaped by the server; the room for it is measured here.
const byId = (id) => document.getElementById(id);
let source = null;
let asked = "";

function room() {
  const character = byId("measure").getBoundingClientRect().width / 10;
  const wide = Math.floor((document.documentElement.clientWidth - 20) / character);
  const columns = window.matchMedia("(min-width: 1000px)").matches
    ? Math.floor((document.documentElement.clientWidth - 28) / 2 / character) : wide;
  return `columns=${columns}&wide=${wide}`;
}

function say(words) {
  byId("state").textContent = words;
  byId("state").hidden = !words;
}

function show(view) {
  byId("head").innerHTML = view.head;
  document.title = `${byId("head").textContent.trim().split(" · ").slice(0, 2).join(" · ")} - eeectl watch`;
  const names = view.panels.map((panel) => panel.name);
  for (const old of [...byId("panels").children]) if (!names.includes(old.id)) old.remove();
  view.panels.forEach((panel, place) => {
    let section = byId(panel.name);
    if (!section) {
      section = document.createElement("section");
      section.id = panel.name;
      section.append(document.createElement("h2"), document.createElement("pre"));
    }
    if (byId("panels").children[place] !== section) byId("panels").insertBefore(section, byId("panels").children[place]);
    section.firstChild.textContent = panel.title;
    section.lastChild.innerHTML = panel.html;
  });
  byId("links").hidden = false;
  byId("links").querySelector("h2").textContent = view.links.title;
  byId("links").querySelector("table").innerHTML = view.links.html;
}

function listen() {
  if (source) source.close();
  asked = room();
  source = new EventSource(`events?${asked}`);
  source.addEventListener("view", (event) => { say(""); show(JSON.parse(event.data)); });
  source.addEventListener("ended", (event) => { source.close(); say(`${JSON.parse(event.data)}; this is its last view`); });
  source.onerror = () => say(source.readyState === EventSource.CLOSED
    ? "eeectl watch does not answer; this is its last view" : "eeectl watch does not answer; trying again");
}

listen();
window.addEventListener("resize", () => { if (room() !== asked && source.readyState !== EventSource.CLOSED) listen(); });
