import { existsSync, readFileSync } from 'node:fs'
import { layOutArticle, layOutPage } from './layout.ts'
import type { Links } from './links.ts'
import { renderMarkdown } from './markdown.ts'
import { html } from './markup.ts'

/** The guides of `docs/`, in the order in which they are shown. */
const groups: readonly { title: string; slugs: readonly string[] }[] = [
  { title: 'Start', slugs: ['getting-started', 'configuration-as-code', 'mcp'] },
  { title: 'Embed', slugs: ['embedding', 'webhooks', 'authorizations'] },
  {
    title: 'Use',
    slugs: [
      'uploads',
      'alerts',
      'people',
      'single-sign-on',
      'access',
      'data-subjects',
      'errors',
      'api-decisions',
      'glossary',
    ],
  },
  { title: 'Operate', slugs: ['operating', 'observability', 'backup', 'scaling', 'upgrading', 'audit', 'debugging'] },
]

export type Guide = { readonly slug: string; readonly title: string; readonly text: string }

const directory = new URL('../../../../docs/', import.meta.url)

/** The slugs of the guides that are here: a package of the service alone has none. */
export const guideSlugs = (): string[] =>
  groups.flatMap(({ slugs }) => slugs).filter((slug) => existsSync(new URL(`${slug}.md`, directory)))

export function readGuide(slug: string): Guide {
  const text = readFileSync(new URL(`${slug}.md`, directory), 'utf8')
  return { slug, text, title: /^# (.+)$/m.exec(text)?.[1] ?? slug }
}

/** The index of the guides: each with its first paragraph. */
export function guidesPage(links: Links): string {
  const found = new Set(guideSlugs())
  const content = html`<h1>Guides</h1>
${groups.map(
  ({ title, slugs }) => html`<h2>${title}</h2>
<ul class="entries">
${slugs
  .filter((slug) => found.has(slug))
  .map(readGuide)
  .map(
    (guide) => html`<li>
<h3><a href="${links.guide(guide.slug)}">${guide.title}</a></h3>
${renderMarkdown(firstParagraph(guide.text), { addressOf: () => undefined })}</li>
`,
  )}</ul>
`,
)}`
  return layOutPage(links, { title: 'Penstock guides', place: 'guides', body: layOutArticle([], content) })
}

/** The page of a guide. */
export function guidePage(links: Links, { title, text }: Guide): string {
  const article = renderMarkdown(text, { addressOf: links.ofDocument('.') })
  return layOutPage(links, {
    title: `${title} · Penstock guides`,
    place: 'guides',
    body: layOutArticle([{ address: links.guides, label: 'Guides' }], html`<article>${article}</article>`),
  })
}

/** The first paragraph after the title, which says what the guide is for; empty where a heading comes first. */
export const firstParagraph = (text: string): string => {
  const title = /^# .*\n/m.exec(text)
  const [first = ''] = text
    .slice(title ? title.index + title[0].length : 0)
    .trimStart()
    .split(/\n{2,}/)
  return /^(#|```|<!--)/.test(first) ? '' : first
}
