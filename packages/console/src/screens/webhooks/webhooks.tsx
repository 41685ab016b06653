import { Text } from '@mantine/core'
import type { Webhook } from '@penstock/wire'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { AccountName } from '../../components/account-name.tsx'
import { type ListAddress, useAddress } from '../../components/address.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { pageOf } from '../../components/pager.tsx'
import { AddButton } from '../../components/reasoned.tsx'
import { type Column, NameLink, ResourceTable } from '../../components/resource-table.tsx'
import { Time } from '../../components/time.tsx'
import { webhooks as say } from '../../strings/webhooks.ts'
import { WebhookForm } from './webhook-form.tsx'
import { EventTypes, WebhookState } from './webhook-state.tsx'

const listOf = (address: ListAddress) => ({ query: pageOf(address) })
export const readAhead = (_: unknown, address: ListAddress) => readOnce('listWebhooks', listOf(address))

const columns: readonly Column<Webhook>[] = [
  {
    header: say.url,
    wraps: true,
    cell: ({ id, url, description }) => (
      <>
        <NameLink to={`/webhooks/${id}`}>{url}</NameLink>
        {description && (
          <Text size="sm" c="dimmed">
            {description}
          </Text>
        )}
      </>
    ),
  },
  {
    header: say.events,
    from: 'md',
    w: '30%',
    wraps: true,
    folded: true,
    cell: ({ eventTypes, accountId }) => (
      <>
        <EventTypes types={eventTypes} />
        {accountId && <AccountName accountId={accountId} />}
      </>
    ),
  },
  {
    header: say.lastSuccess,
    from: 'sm',
    w: 150,
    cell: ({ lastSuccessTime }) => <Time seconds={lastSuccessTime} />,
  },
  { header: say.state, w: 130, cell: (webhook) => <WebhookState webhook={webhook} /> },
]

/** The webhooks of the organization. */
export function Component() {
  const query = useRead('listWebhooks', listOf(useAddress()), { keep: true })
  const forbidden = useForbidden('createWebhook')
  const [dialog, open] = useDialog()
  const create = (
    <AddButton reason={forbidden} onClick={() => open((close) => <WebhookForm onClose={close} />)}>
      {say.create}
    </AddButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={create}>
      <ResourceTable
        label={say.title}
        top
        query={query}
        empty={<Empty title={say.none} help={say.noneHelp} action={create} />}
        columns={columns}
      />
      {dialog}
    </Page>
  )
}
