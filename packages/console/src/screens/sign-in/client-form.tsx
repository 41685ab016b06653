import { Anchor, Button, PasswordInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { signInClient } from '../../api/session.ts'
import { CardPage } from '../../components/card-page.tsx'
import { Failure } from '../../components/failure.tsx'
import { session as say } from '../../strings/session.ts'

/** Signs in with client credentials. */
export function ClientForm({ isExpired, onOther }: { isExpired: boolean; onOther: () => void }) {
  const [clientId, setClientId] = useState('')
  const [clientSecret, setClientSecret] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [busy, setBusy] = useState(false)
  const submit = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      await signInClient({ clientId: clientId.trim(), clientSecret: clientSecret.trim() })
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <CardPage title={say.title} help={isExpired ? say.expired : say.clientHelp} onSubmit={() => void submit()}>
      <TextInput
        label={say.clientId}
        required
        autoFocus
        autoComplete="username"
        spellCheck={false}
        value={clientId}
        onChange={({ currentTarget }) => setClientId(currentTarget.value)}
      />
      <PasswordInput
        label={say.clientSecret}
        required
        autoComplete="current-password"
        value={clientSecret}
        onChange={({ currentTarget }) => setClientSecret(currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': say.showPassword }}
      />
      {failure !== undefined && <Failure error={failure} />}
      <Button type="submit" loading={busy} fullWidth>
        {say.signIn}
      </Button>
      <Anchor component="button" type="button" size="sm" onClick={onOther}>
        {say.withPassword}
      </Anchor>
    </CardPage>
  )
}
