import { definePlatform } from '@penstock/connector'

export const kafkaPlatform = definePlatform({
  slug: 'apache-kafka',
  name: 'Apache Kafka',
  type: 'Data Provider',
  icon: 'apachekafka',
  alsoCalled: ['kafka', 'redpanda', 'event stream', 'topic', 'queue'],
})
