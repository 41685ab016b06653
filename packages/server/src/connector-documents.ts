import { readFileSync } from 'node:fs'
import type { Connector } from '@penstock/connector'
import { connectors, listedConnectors, logoOf, platformsByKind } from '@penstock/connectors'
import type { PlatformKind } from '@penstock/wire'

/**
 * The list of all connectors, the connectors taken out, the README with their count, and the logos in its table of platforms. The service
 * renders the page of each connector from its definition.
 */
export const connectorDocuments = (): { path: string; content: string }[] => [
  { path: 'docs/connectors/README.md', content: indexDocument() },
  { path: 'docs/connectors/not-included.md', content: notIncludedDocument() },
  { path: 'README.md', content: readme() },
  ...logoStrips(),
]

/** The kinds of platforms in each row of the README's table. */
const rowsOfReadme: Readonly<Record<string, readonly PlatformKind[]>> = {
  databases: ['database'],
  warehouses: ['warehouse'],
  files: ['file store'],
  events: ['event stream'],
  customers: ['customer platform'],
  advertising: ['advertising platform'],
  reports: ['reports'],
  other: ['api', 'own records'],
}

/** A picture with the logos of the platforms of each row. Fails if a platform has no kind. */
function logoStrips(): { path: string; content: string }[] {
  const platforms = new Map(listedConnectors.map(({ platform }) => [platform.slug, platform]))
  const strips = Object.entries(rowsOfReadme).map(([row, kinds]) => ({
    path: `docs/platforms/${row}.svg`,
    content: logoStrip(
      kinds
        .flatMap((kind) => platformsByKind[kind])
        .map((slug) => {
          const platform = platforms.get(slug)
          if (!platforms.delete(slug) || !platform) throw new Error(`No listed connector has the platform ${slug}`)
          return logoOf(platform)
        }),
    ),
  }))
  const missing = [...platforms.keys()]
  if (missing.length > 0)
    throw new Error(`Give the platforms ${missing.join(', ')} a kind in packages/connectors/src/platform-kinds.ts`)
  return strips
}

const logosPerLine = 5
const logoPixels = 24
const stepPixels = 30

/** Two platforms can share a brand: each logo is shown once. */
function logoStrip(all: readonly string[]): string {
  const logos = [...new Map(all.map((logo) => [logo.replace(/<title>.*<\/title>/, ''), logo])).values()]
  const width = Math.min(logos.length, logosPerLine) * stepPixels
  const height = Math.ceil(logos.length / logosPerLine) * stepPixels
  const placed = logos.map((logo, i) => {
    const at = `x="${(i % logosPerLine) * stepPixels}" y="${Math.floor(i / logosPerLine) * stepPixels}"`
    return logo.replace('<svg ', `<svg ${at} width="${logoPixels}" height="${logoPixels}" `)
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" role="img"><title>Logos</title>\n${placed.join('\n')}\n</svg>\n`
}

/** How many connectors there are, and in how many roles. Data moves in each: a test of the catalogue requires it. */
const counts = (): { connectors: number; roles: number } => ({
  connectors: listedConnectors.length,
  roles: listedConnectors.reduce((sum, { roles }) => sum + roles.length, 0),
})

/** The README with the counts of the catalogue updated. Fails if a sentence with a count was changed or removed. */
function readme(): string {
  const { connectors, roles } = counts()
  const counted: readonly [sentence: RegExp, count: number][] = [
    [/(?<=a\s+catalogue\s+of\s+)\d+(?=\s+connectors)/, connectors],
    [/(?<=together\s+they\s+have\s+)\d+(?=\s+roles)/, roles],
    [/(?<=\| Connectors \| )\d+(?= \|)/, connectors],
  ]
  const text = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
  return counted.reduce((written, [sentence, count]) => {
    if (!sentence.test(written)) throw new Error(`README.md has no text that matches ${sentence}`)
    return written.replace(sentence, String(count))
  }, text)
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

These connectors were in the catalogue of earlier builds and never moved data. They are withdrawn, mostly because no public document describes how
the platform delivers or accepts the data. They are no longer listed, and cannot be added.

A sub-account that added one keeps it, with its configuration and its connections: it is listed among the added connectors, its page
says that it is withdrawn, and it can be removed. If a platform publishes how its data moves, its connector comes back under the same slug.

| Connector | Slug | Why it is not included | What to use instead |
|---|---|---|---|
${connectors.flatMap(row).join('\n')}
`
}
