import { Button, Stack } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import { useState } from 'react'
import { enter } from '../../api/enter.ts'
import { canUsePasskeys, signInWithPasskey } from '../../api/passkeys.ts'
import { PasskeyFailure } from '../../components/passkey-failure.tsx'
import { passkeys as say } from '../../strings/passkeys.ts'

/** Signs in with a passkey, where the browser can, and confirms a sign-in at an identity provider with that. */
export function PasskeyButton({ link }: { link: string | undefined }) {
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  if (!canUsePasskeys()) return null
  const signIn = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      enter(await signInWithPasskey(link))
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  return (
    <Stack gap="sm">
      <Button
        variant="default"
        fullWidth
        loading={busy}
        leftSection={<IconFingerprint size={18} aria-hidden />}
        onClick={() => void signIn()}
      >
        {say.signIn}
      </Button>
      {failure !== undefined && <PasskeyFailure error={failure} />}
    </Stack>
  )
}
