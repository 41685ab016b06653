import { Alert, Anchor, Button } from '@mantine/core'
import { useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { enter } from '../../api/enter.ts'
import { anonymous } from '../../api/session.ts'
import { CardPage } from '../../components/card-page.tsx'
import { Failure } from '../../components/failure.tsx'
import { errorOfField, NewPassword } from '../../components/new-password.tsx'
import { session as say } from '../../strings/session.ts'

/** Sets another password by the token of a link, and signs in with it. */
export function Component() {
  // Browsers do not send the part after `#` to servers.
  const token = useLocation().hash.slice(1)
  const navigate = useNavigate()
  const [newPassword, setNewPassword] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  // The organization may want more than a password.
  const [isSet, setIsSet] = useState(false)
  const submit = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      const { reply: person } = await anonymous.resetPassword({ body: { token, newPassword } })
      setIsSet(true)
      enter((await anonymous.signIn({ body: { ...person, password: newPassword } })).reply)
      navigate('/', { replace: true })
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const fieldError = errorOfField(failure, 'newPassword')
  return (
    <CardPage title={say.resetTitle} help={token ? say.resetHelp : say.linkInvalid} onSubmit={() => void submit()}>
      {isSet && failure !== undefined && (
        <>
          <Alert color="teal" role="status">
            {say.passwordSet}
          </Alert>
          <Failure error={failure} />
        </>
      )}
      {token && !(isSet && failure !== undefined) && (
        <>
          <NewPassword value={newPassword} error={fieldError} onChange={setNewPassword} />
          {failure !== undefined && !fieldError && <Failure error={failure} />}
          <Button type="submit" loading={busy} fullWidth>
            {say.setPassword}
          </Button>
        </>
      )}
      <Anchor component={Link} to="/sign-in" size="sm">
        {say.back}
      </Anchor>
    </CardPage>
  )
}
