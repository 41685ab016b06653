import { Alert, Anchor, Button, TextInput } from '@mantine/core'
import { type Invitation, limits, type Me } from '@penstock/wire'
import { useQuery } from '@tanstack/react-query'
import { useState, useSyncExternalStore } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { enter } from '../../api/enter.ts'
import { readOnce } from '../../api/queries.ts'
import { anonymous, sessionStore } from '../../api/session.ts'
import { CardPage } from '../../components/card-page.tsx'
import { Failure } from '../../components/failure.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { errorOfField, NewPassword } from '../../components/new-password.tsx'
import { access } from '../../strings/access.ts'
import { session as say } from '../../strings/session.ts'

/** Accepts an invitation by the token of its link: the person sets a name and a password, and is signed in. */
export function Component() {
  // Browsers do not send the part after `#` to servers.
  const token = useLocation().hash.slice(1)
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: async ({ signal }) => (await anonymous.getInvitation({ body: { token }, signal })).reply,
    enabled: token !== '',
    retry: false,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (invitation.data) return <Accept token={token} invitation={invitation.data} />
  return (
    <CardPage title={say.acceptTitle} help={token === '' ? say.linkInvalid : undefined}>
      {token !== '' && (
        <Loaded query={invitation} lines={3}>
          {() => null}
        </Loaded>
      )}
      <Anchor component={Link} to="/sign-in" size="sm">
        {say.back}
      </Anchor>
    </CardPage>
  )
}

/** Where the first owner begins: with the first rows, if the organization has no connection yet. */
async function firstPageOf({ scopes }: Me): Promise<string> {
  if (scopes !== null && !scopes.includes('connections:write')) return '/'
  const connections = await readOnce('listConnections', { query: { size: 1 } }).catch(() => undefined)
  return connections?.total === 0 ? '/start' : '/'
}

function Accept({ token, invitation }: { token: string; invitation: Invitation }) {
  const signedIn = useSyncExternalStore(sessionStore.subscribe, sessionStore.read)
  const navigate = useNavigate()
  const [email, setEmail] = useState(invitation.email ?? '')
  const [name, setName] = useState(invitation.name ?? '')
  const [password, setPassword] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const submit = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      const given = invitation.email === null ? { email: email.trim() } : {}
      const { reply } = await anonymous.acceptInvitation({ body: { token, name: name.trim(), password, ...given } })
      enter(reply)
      navigate(await firstPageOf(reply), { replace: true })
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const errors = {
    email: errorOfField(failure, 'email'),
    name: errorOfField(failure, 'name'),
    password: errorOfField(failure, 'password'),
  }
  const isOfField = Object.values(errors).some(Boolean)
  return (
    <CardPage
      title={say.accept(invitation.organizationName)}
      help={say.acceptHelp(access.role[invitation.role].toLowerCase())}
      onSubmit={() => void submit()}
    >
      {signedIn && !busy && <Alert color="yellow">{say.signedInAlready}</Alert>}
      <TextInput
        type="email"
        label={say.email}
        required
        readOnly={invitation.email !== null}
        {...(invitation.email === null ? { autoFocus: true } : { variant: 'filled' })}
        autoComplete="username"
        maxLength={limits.emailLengthMax}
        value={email}
        error={errors.email}
        onChange={({ currentTarget }) => setEmail(currentTarget.value)}
      />
      <TextInput
        label={say.name}
        required
        autoFocus={invitation.email !== null}
        autoComplete="name"
        maxLength={limits.nameLengthMax}
        value={name}
        error={errors.name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <NewPassword label={say.password} value={password} error={errors.password} onChange={setPassword} />
      {failure !== undefined && !isOfField && <Failure error={failure} />}
      <Button type="submit" loading={busy} fullWidth>
        {say.setPassword}
      </Button>
    </CardPage>
  )
}
