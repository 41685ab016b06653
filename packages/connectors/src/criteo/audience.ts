import { column, text } from '@penstock/connector'

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

/** Which audience a row is about, and whether its person joins or leaves it. */
export const membershipColumns = {
  segment_name: column({
    description: 'Name of the audience to create',
    synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
  }),
  segment_id: column({
    description: 'ID of the audience to change, if it exists',
    synonyms: ['audience_id', 'list_id'],
  }),
  action: column({
    description: 'Whether the person is added to the audience or removed',
    required: true,
    values: ['add', 'remove'],
  }),
}
