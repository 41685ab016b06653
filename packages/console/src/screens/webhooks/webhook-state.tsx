import { Badge, Text } from '@mantine/core'
import type { Webhook, WebhookDelivery } from '@penstock/wire'
import { count } from '../../components/numbers.ts'
import { webhooks as say } from '../../strings/webhooks.ts'

/** Whether events are sent to a webhook, and whether they arrive. */
export function WebhookState({ webhook: { enabled, failingSince } }: { webhook: Webhook }) {
  const [color, text] = !enabled
    ? ['gray', say.disabled]
    : failingSince === null
      ? ['teal', say.enabled]
      : ['red', say.failing]
  return (
    <Badge variant="dot" color={color} fw={500}>
      {text}
    </Badge>
  )
}

const colors = { pending: 'gray', delivered: 'teal', failed: 'red' } as const

export function DeliveryBadge({ delivery: { status, attempts } }: { delivery: WebhookDelivery }) {
  const isRetrying = status === 'pending' && attempts > 0
  return (
    <Badge variant="dot" color={isRetrying ? 'orange' : colors[status]} fw={500}>
      {isRetrying ? say.retrying : say.status[status]}
    </Badge>
  )
}

const shownMax = 3

/** The types that a webhook takes, in a line. */
export function EventTypes({ types }: { types: Webhook['eventTypes'] }) {
  if (types === null) return say.allEvents
  const shown = types.slice(0, shownMax).join(', ')
  return (
    <Text span inherit title={types.join(', ')}>
      {shown} {types.length > shownMax && say.more(count(types.length - shownMax))}
    </Text>
  )
}
