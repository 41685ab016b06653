import { Anchor, Box, Table, Text } from '@mantine/core'
import type { Webhook } from '@penstock/wire'
import { IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { ListTable } from '../../components/list-table.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { PagedList } from '../../components/paged-list.tsx'
import { pageSize } from '../../components/pager.tsx'
import { ReasonedButton } from '../../components/reasoned.tsx'
import { Time } from '../../components/time.tsx'
import { webhooks as say } from '../../strings/webhooks.ts'
import { WebhookForm } from './webhook-form.tsx'
import { EventTypes, WebhookState } from './webhook-state.tsx'

const listOf = ({ page }: ListAddress) => ({ query: { size: pageSize, offset: page * pageSize } })
export const readAhead = (_: unknown, place: ListAddress) => readOnce('listWebhooks', listOf(place))

/** The webhooks of the organization. */
export function Component() {
  const query = useRead('listWebhooks', listOf(useAddress()), { keep: true })
  const forbidden = useForbidden('createWebhook')
  const [creating, setCreating] = useState(false)
  const create = (
    <ReasonedButton
      leftSection={<IconPlus size={18} aria-hidden />}
      reason={forbidden}
      onClick={() => setCreating(true)}
    >
      {say.create}
    </ReasonedButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={create}>
      <PagedList query={query} empty={<Empty title={say.none} help={say.noneHelp} action={create} />}>
        {(reply) => <Webhooks webhooks={reply} />}
      </PagedList>
      {creating && <WebhookForm onClose={() => setCreating(false)} />}
    </Page>
  )
}

function Webhooks({ webhooks }: { webhooks: readonly Webhook[] }) {
  return (
    <ListTable label={say.title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{say.url}</Table.Th>
          <Table.Th visibleFrom="md" w="30%">
            {say.events}
          </Table.Th>
          <Table.Th visibleFrom="sm" w={150}>
            {say.lastSuccess}
          </Table.Th>
          <Table.Th w={130}>{say.state}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {webhooks.map((webhook) => {
          const { id, url, description, accountId, eventTypes, lastSuccessTime } = webhook
          const takes = (
            <>
              <EventTypes types={eventTypes} />
              {accountId && <AccountName accountId={accountId} />}
            </>
          )
          return (
            <Table.Tr key={id} style={{ verticalAlign: 'top' }}>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                <Anchor component={Link} to={`/webhooks/${id}`} fw={550} fz="sm">
                  {url}
                </Anchor>
                {description && (
                  <Text size="sm" c="dimmed">
                    {description}
                  </Text>
                )}
                <Box hiddenFrom="md" mt={6} fz="sm">
                  {takes}
                </Box>
              </Table.Td>
              <Table.Td visibleFrom="md" style={{ overflowWrap: 'anywhere' }}>
                {takes}
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <Time seconds={lastSuccessTime} />
              </Table.Td>
              <Table.Td>
                <WebhookState webhook={webhook} />
              </Table.Td>
            </Table.Tr>
          )
        })}
      </Table.Tbody>
    </ListTable>
  )
}
