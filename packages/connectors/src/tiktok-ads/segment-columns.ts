import { column } from '@penstock/connector'

/** Which audience a row is about, and what it does to it. */
export const segmentColumns = {
  segment_name: column({
    description: 'Name of the audience to create',
    synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
  }),
  segment_id: column({ description: 'ID of the audience to change', synonyms: ['audience_id', 'list_id'] }),
  action: column({
    description: 'Whether the person is added or removed',
    required: true,
    values: ['add', 'remove'],
  }),
}
