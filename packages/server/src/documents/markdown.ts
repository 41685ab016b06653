import { Marked, type RendererObject, type Tokens } from 'marked'
import { html, Markup } from './markup.ts'
import type { Picture } from './pictures.ts'

/** Context of a page that is made from Markdown. */
type Surroundings = {
  /** The address of the target of a link. Undefined if it is not served. Then only the text is shown. */
  addressOf(target: string): string | undefined
  /** The address and the size of a picture. Undefined if it is not served. Then only the text is shown. */
  pictureOf?(target: string): { readonly address: string; readonly size: Picture['size'] } | undefined
}

/**
 * HTML of a document in GitHub's Markdown. Headings have the identifiers that GitHub gives them. Cells of tables repeat their
 * heading, for narrow screens. A table without headings becomes a list of facts. HTML in the text is shown as text, and HTML
 * comments are omitted.
 */
export function renderMarkdown(text: string, { addressOf, pictureOf }: Surroundings): Markup {
  const identifiers = new Map<string, number>()
  let section = ''
  const inlineOf = (
    renderer: { parser: { parseInline(tokens: Tokens.Generic[]): string } },
    tokens: Tokens.Generic[],
  ) => new Markup(renderer.parser.parseInline(tokens))
  const renderer: RendererObject = {
    heading({ depth, tokens }) {
      const content = inlineOf(this, tokens)
      section = identifierOf(plainText(tokens), identifiers)
      const name = new Markup(`h${depth}`)
      return html`<${name} id="${section}">${content}</${name}>\n`.text
    },
    link({ href, tokens }) {
      const content = inlineOf(this, tokens)
      const address = addressOf(href)
      if (address === undefined) return content.text
      const isElsewhere = /^https?:/.test(address)
      return html`<a href="${address}"${isElsewhere && html` rel="noreferrer"`}>${content}</a>`.text
    },
    // The keyboard scrolls a block that is wider than the page.
    code: ({ text, lang }) =>
      html`<pre tabindex="0"><code${lang !== undefined && lang !== '' && html` class="language-${lang}"`}>${text}\n</code></pre>\n`
        .text,
    image({ href, text }) {
      const picture = pictureOf?.(href)
      if (picture === undefined) return html`${text}`.text
      const { address, size } = picture
      // The keyboard scrolls a picture that is wider than the page.
      return html`<span class="picture" tabindex="0" role="group" aria-label="Picture"><img src="${address}" alt="${text}"${size && html` width="${String(size.width)}" height="${String(size.height)}"`} loading="lazy"></span>`
        .text
    },
    html: ({ text }) => (text.trimStart().startsWith('<!--') ? '' : html`${text}`.text),
    table({ header, rows }) {
      const headings = header.map((cell) => plainText(cell.tokens))
      const cells = rows.map((row) => row.map((cell) => inlineOf(this, cell.tokens)))
      if (headings.every((heading) => heading === '')) return factsOf(cells).text
      return tableOf(section, headings, cells).text
    },
  }
  const marked = new Marked({ renderer, tokenizer: { url: () => undefined } })
  return new Markup(marked.parse(text, { async: false }))
}

/** The same document as Markdown, with the addresses at which its links and pictures are served. Others become their text. */
export function rebaseMarkdown(text: string, { addressOf, pictureOf }: Surroundings): string {
  const marked = new Marked({ tokenizer: { url: () => undefined } })
  const targets = new Set<string>()
  marked.walkTokens(marked.lexer(text), (token) => {
    if (token.type === 'link' || token.type === 'image') targets.add(token.href)
  })
  return text.replaceAll(linkOrPicture, (whole, picture: string, label: string, target: string) => {
    if (!targets.has(target)) return whole
    const address = picture === '' ? addressOf(target) : pictureOf?.(target)?.address
    return address === undefined ? label : `${picture}[${label}](${address})`
  })
}

/** A link or a picture without a title, as the documents write them; its label may contain brackets of code. */
const linkOrPicture = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g

const wideFactLength = 60

const factsOf = (rows: readonly (readonly Markup[])[]): Markup =>
  html`<dl class="facts">${rows.map(([term, fact]) => {
    const isWide = (fact?.text.replaceAll(/<[^>]*>/g, '').length ?? 0) > wideFactLength
    return html`<div${isWide && html` class="wide"`}><dt>${term}</dt><dd>${fact}</dd></div>`
  })}</dl>
`

const tableOf = (labelledBy: string, headings: readonly string[], rows: readonly (readonly Markup[])[]): Markup =>
  html`<table role="table"${labelledBy !== '' && html` aria-labelledby="${labelledBy}"`}>
<thead role="rowgroup"><tr role="row">${headings.map((heading) => html`<th role="columnheader" scope="col">${heading}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map(
  ([first, ...others]) => html`<tr role="row"><th role="rowheader" scope="row">${first}</th>${others.map(
    (cell, at) =>
      html`<td role="cell" data-heading="${headings[at + 1]}"${cell.text === '' && html` class="none"`}>${cell}</td>`,
  )}</tr>
`,
)}</tbody>
</table>
`

/** A part of a document from one heading to the next. */
export type Section = { readonly title: string; readonly id: string; readonly text: string }

/** The sections of a document, as plain text, with the identifiers that their headings have on its page. */
export function sectionsOf(document: string): Section[] {
  const identifiers = new Map<string, number>()
  const sections: { title: string; id: string; text: string }[] = []
  for (const token of new Marked().lexer(document)) {
    if (token.type === 'heading') {
      const title = plainText(token.tokens ?? [])
      sections.push({ title, id: identifierOf(title, identifiers), text: '' })
    } else if (token.type !== 'html') {
      const last = sections.at(-1)
      if (last) last.text += ` ${textOf(token)}`
    }
  }
  return sections.map(({ text, ...section }) => ({ ...section, text: text.replaceAll(/\s+/g, ' ').trim() }))
}

/** The text of a block: of all cells of a table, of all entries of a list. */
function textOf(token: Tokens.Generic): string {
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows]
      .flat()
      .map(({ tokens }) => plainText(tokens))
      .join(' ')
  }
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(' ')
  return token.tokens ? plainText(token.tokens) : (token.text ?? '')
}

/** The identifier of the next heading. A repeated heading gets a number. */
function identifierOf(title: string, earlier: Map<string, number>): string {
  const slug = slugOf(title)
  const repeated = earlier.get(slug)
  earlier.set(slug, (repeated ?? 0) + 1)
  return repeated === undefined ? slug : `${slug}-${repeated}`
}

/** The text of a piece, without its marks. */
const plainText = (tokens: readonly Tokens.Generic[]): string =>
  tokens.map((token) => (token.tokens ? plainText(token.tokens) : (token.text ?? token.raw))).join('')

/** As GitHub names headings, so that links between the documents hold in both places. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
    .replaceAll(' ', '-')

/** Escapes a text so that Markdown shows it unchanged, also in a cell of a table. */
export const plain = (text: string): string =>
  text.replaceAll(/[\\`*[<~|]|&(?=[#\w]+;)|(?<![\p{L}\p{N}])_(?=\S)/gu, '\\$&').replaceAll(/\s*\n\s*/g, ' ')

/** Text as code, in a cell of a table as well. */
export function code(text: string): string {
  const content = text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ')
  return content.includes('`') ? `\`\` ${content} \`\`` : `\`${content}\``
}

/** A table without the columns that are empty in all rows. Without rows, the result is empty. */
export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const shown = headings.map((_, at) => rows.some((row) => row[at]))
  const line = (cells: readonly string[]) => `| ${cells.filter((_, at) => shown[at]).join(' | ')} |`
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n')
}
