/** A piece of HTML that is safe in a page: every value in it is escaped. */
export class Markup {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Values in a template: text, which is escaped; HTML, which is not; lists of both; undefined and false, which are empty. */
export type Content = string | number | Markup | undefined | false | readonly Content[]

/** HTML with values put into it. Values go between tags and into quoted attributes, nowhere else. */
export function html(strings: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(strings.map((string, at) => string + render(values[at])).join(''))
}

function render(content: Content): string {
  if (content === undefined || content === false) return ''
  if (content instanceof Markup) return content.text
  return typeof content === 'object' ? content.map(render).join('') : escapeHtml(String(content))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
