import { Group, List, Paper, Stack, Text } from '@mantine/core'
import { createClient, PenstockError } from '@penstock/client'
import type { ConnectPageResult, ConnectPage as Page } from '@penstock/wire'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { callBy } from '../api/queries.ts'
import { basePath } from '../base-path.ts'
import { Logo } from '../components/connector-name.tsx'
import { Failure } from '../components/failure.tsx'
import { Lines } from '../components/loaded.tsx'
import { connectPage as say } from '../strings/connect-page.ts'
import { Connectors } from './connectors.tsx'
import { allow, allowFrame, isHeard, link, pageToken, report } from './embedder.ts'
import { BrandButton, Frame, Heading, Notice } from './frame.tsx'

/** The page of a connect link: who asks for what, the connectors one by one, and how it ends. */

const anonymous = createClient({ baseUrl: basePath, token: '' })
type Ended = 'unusable' | 'expired' | ConnectPageResult

/** Calls are made with the token of the page from now on. */
function callWith(token: string): void {
  callBy(createClient({ baseUrl: basePath, token }))
}

export function ConnectPage() {
  const [token, setToken] = useState(() => link.token || pageToken.read() || '')
  const [page, setPage] = useState<Page>()
  const [ended, setEnded] = useState<Ended>()
  const [failure, setFailure] = useState<unknown>()

  const fail = useCallback((error: unknown) => {
    if (!isOver(error)) return setFailure(error)
    setEnded((now) => now ?? 'expired')
    report({ type: 'failed', reason: 'link_invalid' })
    pageToken.remove()
  }, [])
  const read = useCallback((by: string) => {
    setFailure(undefined)
    return anonymous.getConnectPage({ body: { token: by } }).then(({ reply }) => {
      // A link of one organization is not shown under the address, and so on the sites, of another one.
      if (reply.id !== link.id)
        throw new PenstockError(404, '', { error: 'link_invalid', requestId: '', details: [] }, undefined)
      allow(reply.allowedOrigins)
      if (reply.opened) callWith(by)
      setPage(reply)
    })
  }, [])
  useEffect(() => {
    read(link.token || pageToken.read() || '-').catch((error: unknown) => {
      if (!isOver(error)) return setFailure(error)
      allowFrame()
      setEnded('unusable')
      report({ type: 'failed', reason: 'link_invalid' })
    })
  }, [read])

  const open = async () => {
    try {
      const { reply } = await anonymous.openConnectPage({ body: { token } })
      pageToken.write(reply.accessToken)
      setToken(reply.accessToken)
      await read(reply.accessToken)
      report({ type: 'opened' })
    } catch (error) {
      fail(error)
    }
  }
  const finish = async (outcome: 'completed' | 'cancelled') => {
    setFailure(undefined)
    try {
      const { reply } = await anonymous.finishConnectPage({ body: { token, outcome } })
      pageToken.remove()
      setEnded(reply)
      if (outcome === 'cancelled') report({ type: 'cancelled' })
      else report({ type: 'completed', ...(reply.connectionId ? { connectionId: reply.connectionId } : {}) })
      if (reply.redirectUrl && !isHeard() && window.parent === window) window.location.replace(reply.redirectUrl)
    } catch (error) {
      fail(error)
    }
  }

  return (
    <Frame brand={page}>
      <Content>
        {ended ? (
          <End {...{ ended, page }} />
        ) : (
          <>
            {page ? (
              page.opened ? (
                <Connectors page={page} onOver={fail} onFinish={finish} />
              ) : (
                <Intro page={page} onContinue={open} />
              )
            ) : (
              failure === undefined && <Lines lines={6} />
            )}
            {failure !== undefined && <Failure error={failure} />}
          </>
        )}
      </Content>
    </Frame>
  )
}

const Content = ({ children }: { children: ReactNode }) => <Stack gap="lg">{children}</Stack>

/** Whether a refusal says that the link or its page has ended. */
const isOver = (error: unknown): boolean =>
  error instanceof PenstockError && (error.code === 'link_invalid' || error.status === 401)

function Intro({ page, onContinue }: { page: Page; onContinue: () => Promise<void> }) {
  const { organizationName, accountName, connectors, connectionName, activates } = page
  const [busy, setBusy] = useState(false)
  const names = connectors.map(({ name }) => name)
  const platforms = [...new Set(connectors.map(({ platform }) => platform))]
  return (
    <Paper withBorder p="lg">
      <Stack>
        <Group gap="sm">
          {connectors.map(({ connectorId, logo }) => (
            <Logo key={connectorId} src={logo} size={36} />
          ))}
        </Group>
        <Heading>{say.title(names)}</Heading>
        <Text>{say.asks(organizationName, accountName, names)}</Text>
        <Text fw={600} component="h2" size="md" m={0}>
          {say.what}
        </Text>
        <List size="sm" spacing="xs">
          <List.Item>{say.access(organizationName, platforms)}</List.Item>
          <List.Item>{say.secrets(organizationName)}</List.Item>
          {connectionName !== null && <List.Item>{say.connection(connectionName, activates)}</List.Item>}
          <List.Item>{say.takeBack}</List.Item>
        </List>
        <Text size="sm" c="dimmed">
          {say.careful} {say.time}
        </Text>
        <Group justify="flex-end">
          <BrandButton
            loading={busy}
            onClick={() => {
              setBusy(true)
              void onContinue().finally(() => setBusy(false))
            }}
          >
            {say.continue}
          </BrandButton>
        </Group>
      </Stack>
    </Paper>
  )
}

function End({ ended, page }: { ended: Ended; page: Page | undefined }) {
  if (ended === 'unusable') return <Notice title={say.ended} help={say.endedHelp} />
  if (ended === 'expired') return <Notice title={say.expired} help={say.expiredHelp} />
  const { status, redirectUrl } = ended
  const host = redirectUrl && !isHeard() && window.parent === window ? new URL(redirectUrl).host : undefined
  if (status === 'cancelled')
    return <Notice title={say.cancelled} help={host ? say.leading(host) : say.cancelledHelp} />
  return <Notice title={say.done} help={host ? say.leading(host) : say.doneHelp(page?.organizationName ?? '')} />
}
