import { definePlatform } from '@penstock/connector'

export const eventStreamPlatform = definePlatform({
  slug: 'event-stream',
  name: 'Event stream',
  type: 'Data Provider',
  alsoCalled: ['events', 'tracking', 'segment', 'rudderstack', 'webhooks', 'pixel', 'beacon', 'collector', 'sdk'],
})
