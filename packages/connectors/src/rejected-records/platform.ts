import { definePlatform } from '@penstock/connector'

export const rejectedRecordsPlatform = definePlatform({
  slug: 'rejected-records',
  name: 'Rejected records',
  type: 'Cloud Storage Provider',
  alsoCalled: ['dead letters', 'dead-letter queue', 'dlq', 'errors', 'rejects'],
})
