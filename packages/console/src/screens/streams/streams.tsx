import { Anchor } from '@mantine/core'
import { eventStreamConnectorId, limits } from '@penstock/wire'
import { Link } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { readOnce, useRead } from '../../api/queries.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { Empty, Page } from '../../components/page.tsx'
import { AddButton } from '../../components/reasoned.tsx'
import { ResourceTable } from '../../components/resource-table.tsx'
import { Time } from '../../components/time.tsx'
import { pathOf, useAccount } from '../../shell/account.ts'
import { streams as say } from '../../strings/streams.ts'
import { AddStream } from './add-stream.tsx'

/** The streams of a sub-account: the configurations of the connectors that receive events. */
export const streamsOf = (accountId: string) => ({
  accountId,
  query: { streams: true, size: limits.pageSizeMax },
})
export const readAhead = (accountId = '') => readOnce('listConnectorConfigurations', streamsOf(accountId))

/** The event streams of a sub-account. */
export function Component() {
  const { accountId } = useAccount()
  const query = useRead('listConnectorConfigurations', streamsOf(accountId), { keep: true })
  const reason = useForbidden('createConnectorConfiguration')
  const [dialog, open] = useDialog()
  const isFirst = query.data?.reply.every(({ connectorId }) => connectorId !== eventStreamConnectorId) ?? false
  const add = (
    <AddButton
      reason={reason}
      onClick={() => open((close) => <AddStream accountId={accountId} isFirst={isFirst} onClose={close} />)}
    >
      {say.create}
    </AddButton>
  )
  return (
    <Page title={say.title} help={say.help} actions={add}>
      <ResourceTable
        label={say.title}
        query={query}
        empty={<Empty title={say.none} help={say.noneHelp} action={add} />}
        keyOf={({ configurationId }) => configurationId}
        to={({ configurationId }) => pathOf(accountId, `streams/${configurationId}`)}
        columns={[
          {
            header: say.name,
            wraps: true,
            names: true,
            cell: ({ name, configurationId }) => (
              <Anchor component={Link} to={pathOf(accountId, `streams/${configurationId}`)} fw={500}>
                {name}
              </Anchor>
            ),
          },
          { header: say.updated, w: 180, from: 'sm', cell: ({ lastUpdated }) => <Time seconds={lastUpdated} /> },
        ]}
      />
      {dialog}
    </Page>
  )
}
