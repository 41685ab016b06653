import { readFileSync } from 'node:fs'
import type { Connector } from '@penstock/connector'
import { basePath } from '@penstock/wire'
import { guidesFolder } from '../places.ts'
import { connectorArticle } from './connector-article.ts'
import { type Guide, guideGroups, guideSlugs, readGuide } from './guide-files.ts'
import { firstParagraph } from './guides.ts'
import type { Links } from './links.ts'
import { plain, rebaseMarkdown } from './markdown.ts'
import { pictures } from './pictures.ts'

/** The documents as Markdown, for language models and programs that work with them. */

/** A guide, with the addresses at which its links and pictures are served. */
export function guideMarkdown(links: Links, { text }: Guide): string {
  const served = new Set(pictures().map(({ path }) => path))
  return rebaseMarkdown(text, {
    addressOf: links.ofDocument('.'),
    pictureOf: (path) => (served.has(path) ? { address: links.picture(path), size: undefined } : undefined),
  })
}

/** The page of a connector. */
export const connectorMarkdown = (links: Links, connector: Connector): string =>
  `# ${plain(connector.name)}\n\n${rebaseMarkdown(connectorArticle(connector), { addressOf: links.ofDocument('connectors') })}\n`

/** The list of connectors. */
export const connectorsMarkdown = (links: Links, connectors: readonly Connector[]): string =>
  `# Connectors\n\n${connectors.map((connector) => `- [${plain(connector.name)}](${links.connector(connector.slug)}.md): ${connector.roles.join(' and ').toLowerCase()}. ${plain(connector.description)}`).join('\n')}\n`

/** `/llms.txt`: what the service is, and its documents (https://llmstxt.org). */
export function llmsText(links: Links): string {
  const found = new Set(guideSlugs())
  const entry = ({ slug, title, text }: Guide) => {
    const first = rebaseMarkdown(firstParagraph(text), { addressOf: () => undefined }).replaceAll(/\s+/g, ' ')
    return `- [${title}](${links.guide(slug)}.md)${first === '' ? '' : `: ${first}`}`
  }
  const groups = guideGroups
    .map(({ title, slugs }) => ({ title, guides: slugs.filter((slug) => found.has(slug)).map(readGuide) }))
    .filter(({ guides }) => guides.length > 0)
  return `# Penstock

> A self-hosted service that moves rows between databases, warehouses, files, shops, CRMs and advertising platforms, and accounts for every row. An organization has sub-accounts. A sub-account adds connectors, configures them, and pairs a source with a destination in a connection. Data moves only while a connection is active.

Every document is Markdown at its address with \`.md\`, or with \`Accept: text/markdown\`.

## Work with it

- [Skill](${links.skill}): how a coding agent sets up a connection, step by step
- [OpenAPI document](${links.contract(`${basePath}/openapi.json`)}): every operation, schema and error
- [Connectors](${links.connectors}.md): each with its settings, columns and limits

${groups.map(({ title, guides }) => `## ${title}\n\n${guides.map(entry).join('\n')}\n`).join('\n')}`
}

const skillPath = 'skills/penstock/SKILL.md'

/** The skill for coding agents (https://agentskills.io). */
export const readSkill = (links: Links): string =>
  rebaseMarkdown(readFileSync(new URL(skillPath, guidesFolder), 'utf8'), {
    addressOf: links.ofDocument('skills/penstock'),
  })
