import { column, text } from '@penstock/connector'

/** What a connection says about an audience at Criteo, whichever product uses it. */
export const audienceFields = {
  audienceSource: text({
    label: 'Audience source',
    description: 'Where the people of the audience were collected',
  }),
  lifespan: text({
    label: 'Lifespan',
    description: 'How long a person stays in the audience',
  }),
}

/** Which audience a row is about, and whether its person joins or leaves it. */
export const membershipColumns = {
  segment_name: column({
    description: 'Name for an audience that is to be created',
    synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
  }),
  segment_id: column({
    description: 'ID of the audience to change, where it already exists',
    synonyms: ['audience_id', 'list_id'],
  }),
  action: column({
    description: 'Whether the person joins the audience or leaves it',
    required: true,
    values: ['add', 'remove'],
  }),
}
