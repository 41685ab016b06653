import { Alert, Anchor, Button } from '@mantine/core'
import type { Me } from '@penstock/wire'
import { IconFingerprint } from '@tabler/icons-react'
import { canUsePasskeys } from '../api/passkeys.ts'
import { signOut } from '../api/session.ts'
import { CardPage } from '../components/card-page.tsx'
import { notifyFailure } from '../components/notify.ts'
import { usePasskeyForm } from '../components/passkey-form.tsx'
import { passkeys as say } from '../strings/passkeys.ts'

/** Registers the passkey that the organization of a person requires. */
export default function FirstPasskey({ me }: { me: Me }) {
  const { fields, busy, submit } = usePasskeyForm()
  const leave = (
    <Anchor component="button" type="button" size="sm" onClick={() => void signOut().catch(notifyFailure)}>
      {say.signOut}
    </Anchor>
  )
  const words = { title: say.firstTitle, help: say.firstHelp(me.organizationName) }
  if (!canUsePasskeys()) {
    return (
      <CardPage {...words}>
        <Alert color="yellow">{say.unusable}</Alert>
        {leave}
      </CardPage>
    )
  }
  return (
    <CardPage {...words} onSubmit={submit}>
      {fields}
      <Button type="submit" loading={busy} fullWidth leftSection={<IconFingerprint size={18} aria-hidden />}>
        {say.add}
      </Button>
      {leave}
    </CardPage>
  )
}
