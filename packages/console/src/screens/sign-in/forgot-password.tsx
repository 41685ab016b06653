import { Alert, Anchor, Button, TextInput } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useState } from 'react'
import { Link } from 'react-router'
import { anonymous } from '../../api/session.ts'
import { CardPage } from '../../components/card-page.tsx'
import { Failure } from '../../components/failure.tsx'
import { session as say } from '../../strings/session.ts'

/** Asks for a link with which a person sets another password. */
export function Component() {
  const [email, setEmail] = useState('')
  const [answer, setAnswer] = useState<{ mail: boolean; email: string }>()
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const submit = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      const { reply } = await anonymous.requestPasswordReset({ body: { email: email.trim() } })
      setAnswer({ ...reply, email: email.trim() })
    } catch (error) {
      setFailure(error)
    }
    setBusy(false)
  }
  return (
    <CardPage title={say.forgotTitle} help={say.forgotHelp} onSubmit={() => void submit()}>
      {answer ? (
        <Alert color={answer.mail ? 'teal' : 'yellow'} role="status" styles={{ message: { overflowWrap: 'anywhere' } }}>
          {answer.mail ? say.sent(answer.email) : say.noMail}
        </Alert>
      ) : (
        <>
          <TextInput
            type="email"
            label={say.email}
            required
            autoFocus
            autoComplete="username"
            maxLength={limits.emailLengthMax}
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          {failure !== undefined && <Failure error={failure} />}
          <Button type="submit" loading={busy} fullWidth>
            {say.sendLink}
          </Button>
        </>
      )}
      <Anchor component={Link} to="/sign-in" size="sm">
        {say.back}
      </Anchor>
    </CardPage>
  )
}
