import { Alert, Button, Group, Text, TextInput } from '@mantine/core'
import { type BodyOf, consentUses, limits, type Purpose } from '@penstock/wire'
import { IconInfoCircle, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { PickSeveral } from '../../components/pick-several.tsx'
import { consent as say } from '../../strings/consent.ts'
import { type Signal, SignalFields, sentSignal } from './signal-fields.tsx'

type Stored = BodyOf<'setPurposes'>['purposes'][number]
type Draft = { readonly number: number; readonly signal: Signal }

const newSignal: Signal = { kind: 'values', column: '', values: ['yes', 'true', '1'] }

/** A purpose as it is written, without the facts of a list. */
export const storedOf = ({ name, signals, uses }: Purpose): Stored => ({ name, signals, uses })

/** Adds a purpose, or changes one. @param all the purposes of the sub-account, which are written together */
export function EditPurpose({
  accountId,
  all,
  purpose,
  onClose,
}: {
  accountId: string
  all: readonly Purpose[]
  purpose: Purpose | undefined
  onClose: () => void
}) {
  const set = useWrite('setPurposes')
  const [name, setName] = useState(purpose?.name ?? '')
  const [uses, setUses] = useState<Purpose['uses']>(purpose?.uses ?? [])
  const [drafts, setDrafts] = useState<readonly Draft[]>(() =>
    (purpose?.signals ?? [newSignal]).map((signal, number) => ({ number, signal })),
  )
  const add = () =>
    setDrafts([...drafts, { number: Math.max(...drafts.map(({ number }) => number)) + 1, signal: newSignal }])
  const place = purpose ? all.findIndex((one) => one.name === purpose.name) : all.length
  const save = async () => {
    const changed: Stored = { name, signals: drafts.map(({ signal }) => sentSignal(signal)), uses }
    const stored = all.map(storedOf)
    const purposes = [...stored.slice(0, place), changed, ...stored.slice(place + 1)]
    await set.mutateAsync({ accountId, body: { purposes } })
    return say.saved(name.trim())
  }
  return (
    <FormDialog
      title={purpose ? say.editTitle(purpose.name) : say.addTitle}
      size="lg"
      onSubmit={save}
      onClose={onClose}
    >
      {(errorOf) => (
        <>
          {all.length === 0 && (
            <Alert color="water" icon={<IconInfoCircle aria-hidden />} title={say.firstTitle}>
              {say.firstHelp}
            </Alert>
          )}
          <TextInput
            label={say.name}
            value={name}
            maxLength={limits.purposeNameLengthMax}
            required
            disabled={(purpose?.connections ?? 0) > 0}
            autoComplete="off"
            error={errorOf(`purposes.${place}.name`)}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <Text size="sm" c="dimmed">
            {say.signalsHelp}
          </Text>
          {drafts.map(({ number, signal }, at) => (
            <SignalFields
              key={number}
              place={at}
              signal={signal}
              isOnly={drafts.length === 1}
              error={errorOf(`purposes.${place}.signals.${at}`)}
              onChange={(changed) =>
                setDrafts(drafts.map((one) => (one.number === number ? { number, signal: changed } : one)))
              }
              onRemove={() => setDrafts(drafts.filter((one) => one.number !== number))}
            />
          ))}
          <Group>
            <Button
              variant="default"
              leftSection={<IconPlus size={16} aria-hidden />}
              disabled={drafts.length >= limits.purposeSignalsMax}
              onClick={add}
            >
              {say.addSignal}
            </Button>
          </Group>
          <PickSeveral
            label={say.uses}
            description={say.usesHelp}
            data={consentUses.map((use) => ({ value: use, label: say.useNames[use] }))}
            value={uses}
            onChange={(picked) => setUses(consentUses.filter((use) => picked.includes(use)))}
          />
        </>
      )}
    </FormDialog>
  )
}
