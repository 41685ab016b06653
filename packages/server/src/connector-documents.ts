import type { Connector } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import { connectorArticle } from './documents/connector-article.ts'

/** `docs/connectors/`: a page for each connector, written from its definition, and one that lists them. */
export function connectorDocuments(): { path: string; content: string }[] {
  return [
    { path: 'docs/connectors/README.md', content: indexDocument() },
    ...connectors.map((connector) => ({ path: `docs/connectors/${connector.slug}.md`, content: page(connector) })),
  ]
}

const origin = '<!-- Written from packages/connectors by: npm run documents -->\n'

const page = (connector: Connector): string => `${origin}\n# ${connector.name}\n\n${connectorArticle(connector)}\n`

function indexDocument(): string {
  const moving = connectors.filter(({ integrated }) => integrated)
  const row = ({ slug, name, platform, roles, dataType, integrated }: Connector) =>
    `| [${name}](${slug}.md) | ${platform.name} | ${roles.join(', ')} | ${dataType} | ${integrated ? 'yes' : ''} |`
  return `${origin}
# Connectors

${connectors.length} connectors are in the catalogue. Data moves through ${moving.length} of them; the others can be added,
configured and paired, and wait for the code that moves their data.

| Connector | Platform | Role | Data type | Data moves |
|---|---|---|---|---|
${connectors.map(row).join('\n')}
`
}
