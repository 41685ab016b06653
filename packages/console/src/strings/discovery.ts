import type { DiscoveredKind } from '@penstock/wire'
import { count } from '../components/numbers.ts'

const kinds: Readonly<Record<DiscoveredKind, string>> = {
  schema: 'schema',
  table: 'table',
  view: 'view',
  column: 'column',
  folder: 'folder',
  file: 'file',
  sheet: 'sheet',
  account: 'ad account',
  audience: 'audience',
  object: 'object',
}

/** The texts of the lists from which values of settings are picked. */
export const discovery = {
  kind: (kind: DiscoveredKind) => kinds[kind],
  rows: (kind: DiscoveredKind, n: number) =>
    kind === 'audience' ? `about ${count(n)} people` : n === 1 ? 'about 1 row' : `about ${count(n)} rows`,
  key: 'key',
  pick: 'Choose from the list',
  title: (label: string) => `Values of ${label}`,
  list: (label: string) => `${label}: values`,
  search: (label: string) => `Search: ${label}`,
  clearSearch: 'Clear the search',
  up: 'To the folder above',
  reading: 'Reading the list…',
  found: (n: number, more: boolean) => {
    if (n === 0) return more ? 'None yet' : 'None found'
    return more ? `The first ${count(n)}` : `${count(n)} found`
  },
  none: 'Nothing found',
  noneHelp: 'Search for something else, or enter a name.',
  more: 'Show more',
  type: 'Enter a name',
  use: (text: string) => `Use “${text}”`,
  readTime: 'Read',
  readAgain: 'Read the list again',
  failed: 'The list could not be read',
  failedHelp: 'You can enter a name.',
}
