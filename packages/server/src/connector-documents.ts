import { readFileSync } from 'node:fs'
import type { Connector } from '@penstock/connector'
import { connectors, listedConnectors } from '@penstock/connectors'

/** The list of all connectors, the connectors taken out, and the README with their count. The service renders the page of each from its definition. */
export const connectorDocuments = (): { path: string; content: string }[] => [
  { path: 'docs/connectors/README.md', content: indexDocument() },
  { path: 'docs/connectors/not-included.md', content: notIncludedDocument() },
  { path: 'README.md', content: readme() },
]

/** How many connectors there are, and in how many roles. Data moves in each: a test of the catalogue requires it. */
const counts = (): { connectors: number; roles: number } => ({
  connectors: listedConnectors.length,
  roles: listedConnectors.reduce((sum, { roles }) => sum + roles.length, 0),
})

/** The README as it is, with the counts of the catalogue. */
function readme(): string {
  const { connectors, roles } = counts()
  return readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
    .replace(/(a\s+catalogue\s+of\s+)\d+/, `$1${connectors}`)
    .replace(/(Data\s+moves\s+in\s+each\s+of\s+their\s+)\d+/, `$1${roles}`)
}

function indexDocument(): string {
  const { connectors: listed, roles } = counts()
  const row = (connector: Connector) => {
    const { slug, name, platform, roles, dataType } = connector
    return `| ${name} | \`${slug}\` | ${platform.name} | ${roles.join(', ')} | ${dataType} |`
  }
  return `<!-- Written from packages/connectors by: npm run documents -->

# Connectors

${listed} connectors are in the catalogue, with ${roles} roles as a source or as a destination. Data moves in each of them. The service has the page of each
connector under \`/docs/connectors/<slug>\`: its fields, what it reads or takes, its limits, and what it was tested against.
[Connectors that are not included](not-included.md) says which were taken out, and why.

| Connector | Slug | Platform | Role | Data type |
|---|---|---|---|---|
${listedConnectors.map(row).join('\n')}
`
}

function notIncludedDocument(): string {
  const row = ({ slug, name, withdrawn }: Connector) =>
    withdrawn ? [`| ${name} | \`${slug}\` | ${withdrawn.why} | ${withdrawn.instead} |`] : []
  return `<!-- Written from packages/connectors by: npm run documents -->

# Connectors that are not included

These connectors were in the catalogue of 0.1.0 and never moved data. They were taken out, mostly since no public document says how the
platform delivers or takes the data; a connector of a guess would be worse than none. They are no longer listed, and cannot be added.

A sub-account that added one keeps it, with its configuration and its connections: it is listed among the added connectors, its page
says that it is withdrawn, and it can be removed. If a platform publishes how its data moves, its connector comes back under the same slug.

| Connector | Slug | Why it is not included | What to use instead |
|---|---|---|---|
${connectors.flatMap(row).join('\n')}
`
}
