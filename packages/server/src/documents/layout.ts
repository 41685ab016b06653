import type { Links } from './links.ts'
import { type Content, html, type Markup } from './markup.ts'

/** Content security policy of a page: our stylesheet and our pictures, and no script. */
export const pagePolicy =
  "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

type Place = 'guides' | 'reference' | 'connectors' | 'none'

/** A whole page. */
export function layOutPage(
  links: Links,
  { title, place, head, body }: { title: string; place: Place; head?: Content; body: Content },
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${links.asset('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${links.asset('style.css')}">
${head}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar">
<a class="brand" href="${links.connectors}"><img src="${links.asset('icon.svg')}" alt="" width="24" height="24">Penstock</a>
<nav aria-label="Documentation">${tab(links.guides, 'Guides', place === 'guides')}${tab(links.reference, 'API reference', place === 'reference')}${tab(links.connectors, 'Connectors', place === 'connectors')}</nav>
</header>
${body}
</body>
</html>
`.text
}

const tab = (address: string, label: string, here: boolean): Markup =>
  html`<a href="${address}"${here && html` aria-current="true"`}>${label}</a>`

/**
 * The middle of a page, with a link to its parent page.
 * @param beside the related pages in the side column
 */
export function layOutArticle(
  trail: readonly { address: string; label: string }[],
  content: Content,
  beside?: Content,
): Markup {
  return beside === undefined
    ? mainOf(trail, content)
    : html`<div class="with-sidebar">
${mainOf(trail, content)}
<nav class="page sidebar" aria-label="Guides">${beside}</nav>
</div>`
}

function mainOf(trail: readonly { address: string; label: string }[], content: Content): Markup {
  return html`<main id="content" class="page" tabindex="-1">
${
  trail.length > 0 &&
  html`<nav class="trail" aria-label="You are here"><ol>${trail.map(({ address, label }) => html`<li><a href="${address}">${label}</a></li>`)}</ol></nav>
`
}${content}
</main>`
}
