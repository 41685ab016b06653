import { Anchor, Button, Group, SimpleGrid, Text } from '@mantine/core'
import { Link, Navigate } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { addressOf } from '../../base-path.ts'
import { useAddress } from '../../components/address.ts'
import { Failure } from '../../components/failure.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { pathOf, useAccount, useAccountId } from '../../shell/account.ts'
import { start as say } from '../../strings/start.ts'
import { Files } from './files.tsx'
import { MovedSample } from './moved-sample.tsx'
import { useBegin } from './use-begin.ts'
import { FileWay, PlatformsWay, SampleWay } from './ways.tsx'

/** The way to the first rows: sample people, a file, or a platform; each leads into the wizard with its source chosen. */
export function Component() {
  const accountId = useAccountId()
  const accounts = useRead('listAccounts', { query: { size: 1 } }, { enabled: accountId === undefined })
  const shown = useAddress().value('show')
  if (accountId !== undefined) {
    return shown === 'sample' ? <MovedSample accountId={accountId} /> : <Start accountId={accountId} />
  }
  return (
    <Loaded query={accounts} lines={6}>
      {({ reply: [first] }) => <Start accountId={first?.id} atFirst />}
    </Loaded>
  )
}

/**
 * @param atFirst the address names no sub-account: that of the first one is gone to, but not while a way that added it
 * is active, or shows why it failed
 */
function Start({ accountId, atFirst = false }: { accountId: string | undefined; atFirst?: boolean }) {
  const { account } = useAccount()
  const begin = useBegin(accountId)
  const mayCreate = useForbidden('createConnection')
  const mayAdd = useForbidden('addConnectors')
  const mayAddAccount = useForbidden('addAccount')
  const reason = mayCreate ?? mayAdd ?? (accountId === undefined ? mayAddAccount : undefined)
  if (atFirst && accountId !== undefined && !begin.busy && begin.failure === undefined) {
    return <Navigate to={pathOf(accountId, 'start')} replace />
  }
  return (
    <Page
      title={say.title}
      help={say.help}
      actions={
        <Button component={Link} to={pathOf(accountId)} variant="default">
          {say.overview}
        </Button>
      }
    >
      {begin.failure !== undefined && <Failure error={begin.failure} />}
      <SimpleGrid cols={{ base: 1, md: 3 }} spacing="lg">
        <SampleWay begin={begin} reason={reason} accountId={accountId} />
        <FileWay begin={begin} reason={reason} />
        <PlatformsWay begin={begin} reason={reason} accountId={accountId} />
      </SimpleGrid>
      {accountId !== undefined && <Files accountId={accountId} begin={begin} reason={reason} />}
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed">
          {accountId === undefined ? say.newAccount(say.account) : account && say.inAccount(account.name)}
        </Text>
        <Anchor href={addressOf('/docs')} size="sm">
          {say.setUpByHand}
        </Anchor>
      </Group>
    </Page>
  )
}
