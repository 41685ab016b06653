import { Button, Group, Select, Text, Title } from '@mantine/core'
import { type WebhookDelivery, type WebhookDeliveryStatus, webhookDeliveryStatuses } from '@penstock/wire'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { count } from '../../components/numbers.ts'
import { Empty } from '../../components/page.tsx'
import { pageOf } from '../../components/pager.tsx'
import { type Column, ResourceTable } from '../../components/resource-table.tsx'
import { Time } from '../../components/time.tsx'
import { webhooks as say } from '../../strings/webhooks.ts'
import { DeliveryBadge } from '../webhooks/webhook-state.tsx'
import { answerOf, DeliveryDetails } from './delivery-details.tsx'

const liveMs = 2_000
const idleMs = 10_000

/** The deliveries of a webhook, newest first. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const address = useAddress()
  const status = webhookDeliveryStatuses.find((one) => one === address.value('status'))
  const query = useRead(
    'listWebhookDeliveries',
    { id: webhookId, query: { status, ...pageOf(address) } },
    { keep: true, againAfterMs: (result) => (result?.reply.some((one) => one.status === 'pending') ? liveMs : idleMs) },
  )
  const [dialog, open] = useDialog()
  return (
    <>
      <Group justify="space-between" align="flex-end">
        <Title order={2} size="h4">
          {say.deliveries}
        </Title>
        <Select
          aria-label={say.state}
          data={[
            { value: '', label: say.allStatuses },
            ...webhookDeliveryStatuses.map((one: WebhookDeliveryStatus) => ({ value: one, label: say.status[one] })),
          ]}
          value={status ?? ''}
          onChange={(next) => address.change({ status: next ?? '' })}
          allowDeselect={false}
          w={180}
        />
      </Group>
      <ResourceTable
        label={say.deliveries}
        top
        query={query}
        lines={5}
        empty={
          <Empty title={status ? say.noMatching : say.noDeliveries} help={status ? undefined : say.noDeliveriesHelp} />
        }
        columns={columns}
        actions={(delivery) => (
          <Button
            size="compact-sm"
            variant="default"
            aria-label={say.detailsOf(delivery.eventType)}
            onClick={() => open((close) => <DeliveryDetails delivery={delivery} onClose={close} />)}
          >
            {say.details}
          </Button>
        )}
        actionsW={110}
      />
      {dialog}
    </>
  )
}

const columns: readonly Column<WebhookDelivery>[] = [
  {
    header: say.event,
    wraps: true,
    cell: ({ eventType, createdTime }) => (
      <>
        <Text size="sm" fw={550}>
          {eventType}
        </Text>
        <Text size="sm" c="dimmed">
          <Time seconds={createdTime} />
        </Text>
      </>
    ),
  },
  { header: say.state, w: 130, cell: (delivery) => <DeliveryBadge delivery={delivery} /> },
  { header: say.answer, from: 'sm', folded: true, cell: answerOf },
  { header: say.attempts, from: 'md', right: true, cell: ({ attempts }) => count(attempts) },
  {
    header: say.next,
    from: 'md',
    cell: ({ nextTime }) =>
      nextTime === null ? (
        <Text span inherit c="dimmed">
          –
        </Text>
      ) : (
        <Time seconds={nextTime} planned />
      ),
  },
]
