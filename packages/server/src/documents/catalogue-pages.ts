import type { Connector, Platform } from '@penstock/connector'
import { statusBadge } from './connector-page.ts'
import { layOutArticle, layOutPage } from './layout.ts'
import type { Links } from './links.ts'
import { html, type Markup } from './markup.ts'

/** The index: every platform that has a connector of the list, with these connectors. */
export function connectorsPage(
  links: Links,
  { platforms, connectors }: { platforms: readonly Platform[]; connectors: readonly Connector[] },
): string {
  const shown = platforms.filter((platform) => connectors.some((connector) => connector.platform === platform))
  const cards = shown.map((platform) => {
    const own = connectors.filter((connector) => connector.platform === platform)
    return html`<li class="card">
<h2><img src="${links.logo(platform.slug)}" alt="" width="32" height="32" loading="lazy"><a href="${links.platform(platform.slug)}">${platform.name}</a></h2>
<p class="kind">${platform.type}</p>
<ul>${own.map(
      (connector) =>
        html`<li><a href="${links.connector(connector.slug)}">${connector.name}</a> ${statusBadge(connector)}<span class="role">${connector.supportedType}</span></li>`,
    )}</ul>
</li>
`
  })
  const content = html`<h1>Connectors</h1>
<p class="lead">${connectors.length} connectors of ${shown.length} platforms. Each page says what a connector does, which settings it needs, and which columns it gives or takes.</p>
<ul class="cards">
${cards}</ul>`
  return layOutPage(links, {
    title: 'Penstock connectors',
    place: 'connectors',
    body: layOutArticle([], content),
  })
}

/** The page of a platform: its connectors. */
export function platformPage(links: Links, platform: Platform, connectors: readonly Connector[]): string {
  const content = html`<header class="subject">
<img src="${links.logo(platform.slug)}" alt="" width="64" height="64">
<h1>${platform.name}</h1>
</header>
<p class="lead">${platform.type}</p>
<h2>Connectors</h2>
<ul class="entries">
${connectors.map((connector) => entry(links, connector))}</ul>`
  return layOutPage(links, {
    title: `${platform.name} · Penstock connectors`,
    place: 'connectors',
    body: layOutArticle([{ address: links.connectors, label: 'Connectors' }], content),
  })
}

const entry = (links: Links, connector: Connector): Markup =>
  html`<li>
<h3><a href="${links.connector(connector.slug)}">${connector.name}</a> ${statusBadge(connector)}</h3>
<p class="kind">${connector.supportedType} · ${connector.dataType}</p>
<p>${connector.description}</p>
</li>
`
