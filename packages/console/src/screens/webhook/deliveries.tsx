import { Box, Button, Group, Select, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import { type WebhookDelivery, type WebhookDeliveryStatus, webhookDeliveryStatuses } from '@penstock/wire'
import { useState } from 'react'
import { useRead } from '../../api/queries.ts'
import { useAddress } from '../../components/address.ts'
import { ListTable } from '../../components/list-table.tsx'
import { count } from '../../components/numbers.ts'
import { Empty } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { Time } from '../../components/time.tsx'
import { components } from '../../strings/components.ts'
import { webhooks as say } from '../../strings/webhooks.ts'
import { DeliveryBadge } from '../webhooks/webhook-state.tsx'
import { DeliveryDetails } from './delivery-details.tsx'

const liveMs = 2_000
const idleMs = 10_000

/** The deliveries of a webhook, newest first. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const { value, page, change } = useAddress()
  const status = webhookDeliveryStatuses.find((one) => one === value('status'))
  const query = useRead(
    'listWebhookDeliveries',
    { id: webhookId, query: { status, size: pageSize, offset: page * pageSize } },
    { keep: true, againAfterMs: (result) => (result?.reply.some((one) => one.status === 'pending') ? liveMs : idleMs) },
  )
  const [shown, setShown] = useState<WebhookDelivery>()
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
          onChange={(next) => change({ status: next ?? '' })}
          allowDeselect={false}
          w={180}
        />
      </Group>
      <PagedList
        query={query}
        lines={5}
        empty={
          <Empty title={status ? say.noMatching : say.noDeliveries} help={status ? undefined : say.noDeliveriesHelp} />
        }
      >
        {(reply) => <Rows deliveries={reply} onShow={setShown} />}
      </PagedList>
      {shown && <DeliveryDetails delivery={shown} onClose={() => setShown(undefined)} />}
    </>
  )
}

/** What was answered the last time, in a few words. */
export const answerOf = ({ responseStatus, errorCode }: Pick<WebhookDelivery, 'responseStatus' | 'errorCode'>) =>
  responseStatus === null ? (errorCode ?? '–') : say.httpStatus(responseStatus)

function Rows({
  deliveries,
  onShow,
}: {
  deliveries: readonly WebhookDelivery[]
  onShow: (delivery: WebhookDelivery) => void
}) {
  return (
    <ListTable label={say.deliveries}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.event}</Table.Th>
          <Table.Th w={130}>{say.state}</Table.Th>
          <Table.Th visibleFrom="sm">{say.answer}</Table.Th>
          <Table.Th visibleFrom="md" ta="right">
            {say.attempts}
          </Table.Th>
          <Table.Th visibleFrom="md">{say.next}</Table.Th>
          <Table.Th w={110}>
            <VisuallyHidden>{components.actions}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {deliveries.map((delivery) => {
          const { id, eventType, attempts, createdTime, nextTime } = delivery
          return (
            <Table.Tr key={id} style={{ verticalAlign: 'top' }}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Text size="sm" fw={550}>
                  {eventType}
                </Text>
                <Text size="sm" c="dimmed">
                  <Time seconds={createdTime} />
                </Text>
                <Box hiddenFrom="sm" fz="sm">
                  {answerOf(delivery)}
                </Box>
              </Table.Td>
              <Table.Td>
                <DeliveryBadge delivery={delivery} />
              </Table.Td>
              <Table.Td visibleFrom="sm">{answerOf(delivery)}</Table.Td>
              <Table.Td visibleFrom="md" ta="right">
                {count(attempts)}
              </Table.Td>
              <Table.Td visibleFrom="md">
                {nextTime === null ? (
                  <Text span inherit c="dimmed">
                    –
                  </Text>
                ) : (
                  <Time seconds={nextTime} planned />
                )}
              </Table.Td>
              <Table.Td ta="right">
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={say.detailsOf(eventType)}
                  onClick={() => onShow(delivery)}
                >
                  {say.details}
                </Button>
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </ListTable>
  )
}
