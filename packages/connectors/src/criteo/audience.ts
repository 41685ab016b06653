import { text } from '@penstock/connector'

/** What a connection says about an audience at Criteo, whichever product uses it. */
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
