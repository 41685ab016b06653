import { Box, Button, Card, Center, Group, PasswordInput, Stack, Text, TextInput, Title } from '@mantine/core'
import { type FormEvent, useEffect, useState, useSyncExternalStore } from 'react'
import { Navigate, useSearchParams } from 'react-router'
import { sessionStore, signIn } from '../api/session.ts'
import { addressOf } from '../base-path.ts'
import { Failure } from '../components/failure.tsx'
import { session as say } from '../strings/session.ts'
import { shell } from '../strings/shell.ts'

/** Signs in with client credentials, then opens the page that was asked for. */
export function Component() {
  const clientId = useSyncExternalStore(sessionStore.subscribe, sessionStore.read)
  const [parameters] = useSearchParams()
  const to = parameters.get('to')
  const [credentials, setCredentials] = useState({ clientId: '', clientSecret: '' })
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    document.title = `${say.signIn} · ${shell.product}`
  }, [])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFailure(undefined)
    try {
      await signIn({ clientId: credentials.clientId.trim(), clientSecret: credentials.clientSecret.trim() })
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }

  if (clientId) return <Navigate to={pageOf(to)} replace />
  return (
    <Center mih="100vh" p="md" component="main">
      <Card w="100%" maw={420} padding="xl" withBorder shadow="sm" component="form" onSubmit={submit}>
        <Stack>
          <Group gap="sm">
            <img src={addressOf('/docs/assets/icon.svg')} alt="" width={36} height={36} />
            <Title order={1} size="h3">
              {say.title}
            </Title>
          </Group>
          <Text size="sm" c="dimmed">
            {to ? say.expired : say.help}
          </Text>
          <TextInput
            label={say.clientId}
            required
            autoFocus
            autoComplete="username"
            spellCheck={false}
            value={credentials.clientId}
            onChange={({ currentTarget: { value } }) => setCredentials((before) => ({ ...before, clientId: value }))}
          />
          <PasswordInput
            label={say.clientSecret}
            required
            autoComplete="current-password"
            value={credentials.clientSecret}
            onChange={({ currentTarget: { value } }) =>
              setCredentials((before) => ({ ...before, clientSecret: value }))
            }
          />
          {failure !== undefined && <Failure error={failure} />}
          <Box>
            <Button type="submit" loading={busy} fullWidth>
              {say.signIn}
            </Button>
          </Box>
        </Stack>
      </Card>
    </Center>
  )
}

/** The page that was asked for; the first one where that would be an address elsewhere. */
function pageOf(to: string | null): string {
  const { origin, pathname, search } = new URL(to ?? '/', window.location.origin)
  return origin === window.location.origin ? pathname + search : '/'
}
