import { text } from '@penstock/connector'

/** The settings of an audience at Criteo, for every product that uses it. */
export const audienceFields = {
  audienceSource: text({
    label: 'Audience source',
    description: 'Where the people in the audience come from',
  }),
  lifespan: text({
    label: 'Lifespan',
    description: 'How long a person stays in the audience',
  }),
}
