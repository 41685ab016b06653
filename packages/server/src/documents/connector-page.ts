import type { Connector, Side } from '@penstock/connector'
import type { Role } from '@penstock/wire'
import { layOutArticle, layOutPage } from './layout.ts'
import type { Links } from './links.ts'
import { type Content, html, type Markup } from './markup.ts'
import { fieldsTable, recordsTable } from './tables.ts'

/** The page of a connector: all that its definition says. */
export function connectorPage(links: Links, connector: Connector): string {
  const { name, slug, platform, description, actions, notes, tested, api, integrated } = connector
  const { dataType, dataTypeCategory, roles } = connector
  const facts: [string, Content][] = [
    ['Platform', html`<a href="${links.platform(platform.slug)}">${platform.name}</a>, ${platform.type}`],
    ['Role', roles.join(', ')],
    ['Data type', dataType],
    ['Category', dataTypeCategory],
    ...(actions ? [['Actions', actions.join(', ')] satisfies [string, Content]] : []),
    ['Data moves', integrated ? 'yes' : 'not yet'],
    ...(api ? [['API version', `${api.version}; ${api.ends}`] satisfies [string, Content]] : []),
    ['Connector ID', html`<code>${connector.id}</code>`],
    ['Platform ID', html`<code>${connector.platformId}</code>`],
  ]
  const body = html`<header class="subject">
<img src="${links.logo(platform.slug)}" alt="" width="64" height="64">
<h1>${name} ${statusBadge(connector)}</h1>
</header>
<p class="lead">${description}</p>
${statusNote(connector)}<dl class="facts">${facts.map(([term, fact]) => html`<div><dt>${term}</dt><dd>${fact}</dd></div>`)}${tested && html`<div class="wide"><dt>Tested against</dt><dd>${tested}</dd></div>`}</dl>
${notes && html`<h2 id="notes">Before you use it</h2><p>${notes}</p>`}
<h2 id="configuration">Configuration</h2>
${configuration(connector)}
${connector.source && sideSection('Source', connector.source)}
${connector.destination && sideSection('Destination', connector.destination)}`
  const trail = [
    { address: links.connectors, label: 'Connectors' },
    { address: links.platform(platform.slug), label: platform.name },
  ]
  return layOutPage(links, {
    title: `${name} · Penstock connectors`,
    place: 'connectors',
    body: layOutArticle(trail, html`<article data-slug="${slug}">${body}</article>`),
  })
}

function configuration({ secrets, authorization }: Connector): Markup {
  if (Object.keys(secrets).length === 0) return html`<p>There is nothing to configure.</p>`
  return html`<p>Saved once for all connections of a sub-account, in <code>secretConfig</code> of <em>Configure a connector</em>. A Password is sealed when it is stored and never read back.</p>
${
  authorization &&
  html`<p>Where the operator has registered an app with ${authorization.server.name}, a user signs in with a click in place of entering ${[authorization.client.id, authorization.client.secret, authorization.refreshToken].join(', ')}.</p>
`
}${fieldsTable('configuration', secrets)}`
}

const sides: { readonly [R in Role]: { id: string; config: string; records: string } } = {
  Source: { id: 'source', config: 'srcConnectionConfig', records: 'Columns it gives' },
  Destination: { id: 'destination', config: 'destConnectionConfig', records: 'Columns it takes' },
}

function sideSection(role: Role, { fields = {}, records = {} }: Side): Markup {
  const { id, config, records: recordsHeading } = sides[role]
  const hasFields = Object.keys(fields).length > 0
  return html`<h2 id="${id}">As a ${role.toLowerCase()}</h2>
<h3 id="${id}-settings">Settings of a connection</h3>
${
  hasFields
    ? html`<p>Made by each connection for itself, in <code>${config}</code>.</p>
${fieldsTable(`${id}-settings`, fields)}`
    : html`<p>A connection has no settings for this side.</p>`
}
<h3 id="${id}-records">${recordsHeading}</h3>
${
  Object.keys(records).length > 0
    ? recordsTable(`${id}-records`, records)
    : html`<p>No columns are fixed: they follow from the data.</p>`
}`
}

/** Says where a connector is not simply available. */
export function statusBadge({ status }: Connector): Content {
  return status !== undefined && status !== 'available' && html`<span class="badge ${status}">${status}</span>`
}

function statusNote({ status }: Connector): Content {
  if (status === 'preview') {
    return html`<p class="note">In preview: little is published about this platform, and the definition may still change.</p>
`
  }
  return (
    status === 'withdrawn' &&
    html`<p class="note">Withdrawn: it cannot be added any more. Where it was added already, it stays.</p>
`
  )
}
