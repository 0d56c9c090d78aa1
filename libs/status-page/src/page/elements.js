/**
 * Text is only ever set as text: nothing that the page receives becomes markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Readonly<Record<string, string>>} [attributes]
 * @param {readonly (Node | string)[]} [children]
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, attributes = {}, children = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/**
 * An element that index.html has.
 * @template {typeof Element} Kind
 * @param {string} id
 * @param {Kind} kind
 */
export function byId(id, kind) {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) throw new Error(`the page has no ${id}`);
  return /** @type {InstanceType<Kind>} */ (found);
}

/**
 * Text that has not changed is left alone, so that screen readers stay quiet.
 * @param {Element} target
 * @param {string} text
 */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * @param {Element} target
 * @param {string} name
 * @param {string} value
 */
export function setAttribute(target, name, value) {
  if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}
