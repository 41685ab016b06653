import { Text, TextInput } from '@mantine/core'
import { limits } from '@penstock/wire'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { registerPasskey } from '../api/passkeys.ts'
import { passkeys as say } from '../strings/passkeys.ts'
import { browserName } from './browser-name.ts'
import { notifyDone } from './notify.ts'
import { PasskeyFailure } from './passkey-failure.tsx'

/** A form that makes a passkey on this device, under a name. Everything is read again then: it may be more than before. */
export function usePasskeyForm(onAdded?: () => void): {
  fields: ReactNode
  busy: boolean
  submit: () => Promise<void>
} {
  const queries = useQueryClient()
  const [name, setName] = useState(() => browserName(navigator.userAgent))
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<unknown>()
  const submit = async () => {
    setBusy(true)
    setFailure(undefined)
    try {
      const passkey = await registerPasskey(name.trim())
      notifyDone(say.added(passkey.name))
      void queries.invalidateQueries()
      onAdded?.()
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const fields = (
    <>
      <Text size="sm">{say.addHelp}</Text>
      <TextInput
        label={say.name}
        required
        maxLength={limits.nameLengthMax}
        data-autofocus
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      {failure !== undefined && <PasskeyFailure error={failure} />}
    </>
  )
  return { fields, busy, submit }
}
