import type { Connector } from '@penstock/connector'
import { connectorArticle } from './connector-article.ts'
import { layOutArticle, layOutPage } from './layout.ts'
import type { Links } from './links.ts'
import { renderMarkdown } from './markdown.ts'
import { type Content, html } from './markup.ts'

/** The page of a connector: all that its definition says. */
export function connectorPage(links: Links, connector: Connector): string {
  const { name, slug, platform } = connector
  const article = renderMarkdown(connectorArticle(connector), { addressOf: links.ofDocument('connectors') })
  const trail = [
    { address: links.connectors, label: 'Connectors' },
    { address: links.platform(platform.slug), label: platform.name },
  ]
  return layOutPage(links, {
    title: `${name} · Penstock connectors`,
    place: 'connectors',
    body: layOutArticle(
      trail,
      html`<article data-slug="${slug}"><header class="subject">
<img src="${links.logo(platform.slug)}" alt="" width="64" height="64">
<h1>${name} ${statusBadge(connector)}</h1>
</header>
${article}</article>`,
    ),
  })
}

/** Says where a connector is not simply available. */
export const statusBadge = ({ status }: Connector): Content =>
  status !== undefined && status !== 'available' && html`<span class="badge ${status}">${status}</span>`
