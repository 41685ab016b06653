import { column } from '@penstock/connector'

/** Which audience a row is about, and what it does to it. */
export const segmentColumns = {
  segment_name: column({ description: 'Name of the audience to create' }),
  segment_id: column({ description: 'ID of the audience to change' }),
  action: column({
    description: 'What happens to this person’s membership',
    required: true,
    values: ['add', 'remove'],
  }),
}
