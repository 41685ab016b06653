import { definePlatform } from '@penstock/connector'

export const outcomesPlatform = definePlatform({
  slug: 'outcomes',
  name: 'Outcomes',
  type: 'Cloud Storage Provider',
  alsoCalled: ['results', 'responses', 'match results', 'delivery log', 'row status', 'answers'],
})
