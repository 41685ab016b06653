import { type Guide, guideGroups as groups, guideSlugs, readGuide } from './guide-files.ts'
import { searchGuides, searchLengthMax } from './guide-search.ts'
import { layOutArticle, layOutPage } from './layout.ts'
import type { Links } from './links.ts'
import { renderMarkdown } from './markdown.ts'
import { html } from './markup.ts'
import { pictures } from './pictures.ts'

/** The index of the guides: each with its first paragraph. */
export function guidesPage(links: Links): string {
  const found = new Set(guideSlugs())
  const content = html`<h1>Guides</h1>
${searchForm(links, '')}
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
export function guidePage(links: Links, { slug, title, text }: Guide): string {
  const sizes = new Map(pictures().map(({ path, size }) => [path, size]))
  const article = renderMarkdown(text, {
    addressOf: links.ofDocument('.'),
    pictureOf: (path) => (sizes.has(path) ? { address: links.picture(path), size: sizes.get(path) } : undefined),
  })
  return layOutPage(links, {
    title: `${title} · Penstock guides`,
    place: 'guides',
    body: layOutArticle(
      [{ address: links.guides, label: 'Guides' }],
      html`<article>${article}</article>`,
      sidebar(links, slug),
    ),
  })
}

/** The sections of the guides that have all words of a search. */
export function guidesFoundPage(links: Links, search: string): string {
  const found = searchGuides(search)
  const content = html`<h1>Search the guides</h1>
${searchForm(links, search)}
<p role="status">${found.length === 0 ? 'Nothing found. Search for other words, or open a guide from the list.' : `${found.length} ${found.length === 1 ? 'section' : 'sections'} found.`}</p>
<ul class="entries">
${found.map(
  ({ guide, section, excerpt }) => html`<li>
<h2><a href="${links.guide(guide.slug)}#${section.id}">${guide.title}${section.title !== guide.title && ` › ${section.title}`}</a></h2>
<p>${excerpt.map(({ text, isFound }) => (isFound ? html`<mark>${text}</mark>` : text))}</p></li>
`,
)}</ul>`
  return layOutPage(links, {
    title: 'Search the guides · Penstock',
    place: 'guides',
    body: layOutArticle([{ address: links.guides, label: 'Guides' }], content, sidebar(links)),
  })
}

const searchForm = (links: Links, search: string) => html`<form class="search" role="search" action="${links.guides}">
<input type="search" name="q" aria-label="Search the guides" placeholder="Search the guides" maxlength="${searchLengthMax}" value="${search}"><button>Search</button>
</form>`

/** All guides, in their groups. @param here the guide that is shown */
function sidebar(links: Links, here?: string) {
  const found = new Set(guideSlugs())
  return html`${here !== undefined && searchForm(links, '')}
${groups.map(
  ({ title, slugs }) => html`<h2>${title}</h2>
<ul>${slugs
    .filter((slug) => found.has(slug))
    .map(
      (slug) =>
        html`<li><a href="${links.guide(slug)}"${slug === here && html` aria-current="page"`}>${readGuide(slug).title}</a></li>`,
    )}</ul>
`,
)}`
}

/** The first paragraph after the title, which says what the guide is for. Empty if a heading comes first. */
export const firstParagraph = (text: string): string => {
  const title = /^# .*\n/m.exec(text)
  const [first = ''] = text
    .slice(title ? title.index + title[0].length : 0)
    .trimStart()
    .split(/\n{2,}/)
  return /^(#|```|<!--)/.test(first) ? '' : first
}
