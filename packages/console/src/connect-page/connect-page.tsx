import { Alert, Stack, Text } from '@mantine/core'
import { createClient, PenstockError } from '@penstock/client'
import type { ConnectPageResult, ConnectPage as Page } from '@penstock/wire'
import { useCallback, useEffect, useState } from 'react'
import { basePath } from '../base-path.ts'
import { describe } from '../components/describe.ts'
import { Lines } from '../components/lines.tsx'
import { components } from '../strings/components.ts'
import { connectPage as say } from '../strings/connect-page.ts'
import { allow, allowFrame, isHeard, link, pageToken, report } from './embedder.ts'
import { Frame, Heading, Notice } from './frame.tsx'
import { Intro } from './intro.tsx'

/** The page of a connect link: who asks for what, the connectors one by one, and how it ends. */

const anonymous = createClient({ baseUrl: basePath, token: '' })
/** How long after its end the link is looked at; and how long after that again, if it has not ended. */
const lateMs = 500
const againMs = 15_000
type Ended = 'unusable' | 'expired' | ConnectPageResult

/** The forms are most of what is loaded: while the customer reads what the link is for. */
type Step = typeof import('./connectors.tsx')['Connectors']
const loadStep = () => import('./connectors.tsx').then(({ Connectors }) => Connectors)

export function ConnectPage() {
  const [token, setToken] = useState(() => link.token || pageToken.read() || '')
  const [page, setPage] = useState<Page>()
  const [ended, setEnded] = useState<Ended>()
  const [failure, setFailure] = useState<unknown>()
  const [opening, setOpening] = useState(false)
  const [Step, setStep] = useState<Step>()
  const isThere = page !== undefined
  useEffect(() => {
    if (isThere) void loadStep().then((loaded) => setStep(() => loaded), setFailure)
  }, [isThere])

  const fail = useCallback((error: unknown) => {
    if (!isOver(error)) return setFailure(error)
    setEnded((now) => now ?? 'expired')
    report({ type: 'failed', reason: 'link_expired' })
    pageToken.remove()
  }, [])
  const read = useCallback((by: string) => {
    setFailure(undefined)
    return anonymous.getConnectPage({ body: { token: by } }).then(({ reply }) => {
      // A link of one organization is not shown under the address, and so on the sites, of another one.
      if (reply.id !== link.id)
        throw new PenstockError(404, '', { error: 'link_invalid', requestId: '', details: [] }, undefined)
      allow(reply.allowedOrigins)
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

  const expiresMs = page && !ended ? page.expiresTime * 1000 : undefined
  useEffect(() => {
    if (expiresMs === undefined) return
    // The service decides: the clock here may be another one.
    const look = () =>
      anonymous.getConnectPage({ body: { token } }).then(() => {
        timer = setTimeout(look, againMs)
      }, fail)
    let timer = setTimeout(look, Math.max(0, expiresMs - Date.now()) + lateMs)
    return () => clearTimeout(timer)
  }, [expiresMs, token, fail])

  const open = async () => {
    setOpening(true)
    setFailure(undefined)
    try {
      const { reply } = await anonymous.openConnectPage({ body: { token } })
      pageToken.write(reply.accessToken)
      setToken(reply.accessToken)
      await read(reply.accessToken)
      report({ type: 'opened' })
    } catch (error) {
      fail(error)
    } finally {
      setOpening(false)
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
      <Stack gap="lg">
        {ended ? (
          <End ended={ended} page={page} />
        ) : (
          <>
            {page ? (
              page.opened ? (
                Step ? (
                  <Step page={page} token={token} onOver={fail} onFinish={finish} />
                ) : (
                  failure === undefined && <Lines lines={6} />
                )
              ) : (
                <Intro
                  page={page}
                  heading={(title) => <Heading>{title}</Heading>}
                  busy={opening}
                  onContinue={() => void open()}
                />
              )
            ) : (
              failure === undefined && <Lines lines={6} />
            )}
            {failure !== undefined && <Failed error={failure} />}
          </>
        )}
      </Stack>
    </Frame>
  )
}

/** Whether a refusal says that the link or its page has ended. */
const isOver = (error: unknown): boolean =>
  error instanceof PenstockError && (error.code === 'link_invalid' || error.status === 401)

/** An error, with the advice to load the page again. */
function Failed({ error }: { error: unknown }) {
  const { title, help, requestId } = describe(error)
  return (
    <Alert color="red" title={title} role="alert">
      {help && <Text size="sm">{help}</Text>}
      <Text size="sm">{say.failedHelp}</Text>
      {requestId && (
        <Text size="xs" c="dimmed" ff="monospace" mt="xs">
          {components.requestId(requestId)}
        </Text>
      )}
    </Alert>
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
