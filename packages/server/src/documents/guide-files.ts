import { existsSync, readFileSync } from 'node:fs'
import { guidesFolder } from '../places.ts'

/** The guides of `docs/`, in the order in which they are shown. */
export const guideGroups: readonly { title: string; slugs: readonly string[] }[] = [
  { title: 'Start', slugs: ['getting-started', 'first-hour', 'configuration-as-code', 'mcp'] },
  { title: 'Embed', slugs: ['embedding', 'webhooks', 'authorizations'] },
  { title: 'Orchestrate', slugs: ['orchestrators'] },
  {
    title: 'Use',
    slugs: [
      'catalogue',
      'uploads',
      'event-streams',
      'campaigns',
      'audiences',
      'audience-sizes',
      'duckdb',
      'rows-to-send',
      'many-tables',
      'change-data-capture',
      'private-networks',
      'secret-managers',
      'keyless',
      'backfills',
      'http-api',
      'http-api-destination',
      'mapping-templates',
      'ecapi',
      'expressions',
      'duplicates',
      'values',
      'rules',
      'consent',
      'rejected-records',
      'outcomes',
      'outcomes-in-sql',
      'alerts',
      'people',
      'single-sign-on',
      'scim',
      'access',
      'data-subjects',
      'errors',
      'api-decisions',
      'glossary',
    ],
  },
  {
    title: 'Operate',
    slugs: [
      'installing',
      'operating',
      'bring-your-own-connector',
      'observability',
      'backup',
      'scaling',
      'upgrading',
      'audit',
      'debugging',
    ],
  },
]

/** Guides that are now sections of another one: their former slugs, and the guide. */
export const movedGuides: Readonly<Record<string, string>> = {
  airflow: 'orchestrators',
  dagster: 'orchestrators',
  dbt: 'orchestrators',
  prefect: 'orchestrators',
}

export type Guide = { readonly slug: string; readonly title: string; readonly text: string }

/** The slugs of the guides that are installed. A package with only the service has no guides. */
export const guideSlugs = (): string[] =>
  guideGroups.flatMap(({ slugs }) => slugs).filter((slug) => existsSync(new URL(`${slug}.md`, guidesFolder)))

export function readGuide(slug: string): Guide {
  const text = readFileSync(new URL(`${slug}.md`, guidesFolder), 'utf8')
  return { slug, text, title: /^# (.+)$/m.exec(text)?.[1] ?? slug }
}
