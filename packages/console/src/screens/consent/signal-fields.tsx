import {
  ActionIcon,
  Card,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { consentOptOuts, consentSignals, limits, type Purpose } from '@penstock/wire'
import { IconTrash } from '@tabler/icons-react'
import { PickSeveral } from '../../components/pick-several.tsx'
import { consent as say } from '../../strings/consent.ts'

export type Signal = Purpose['signals'][number]

/** Purposes of the TCF. */
const tcfPurposes = Array.from({ length: 11 }, (_, at) => String(at + 1))
const vendorMax = 65_535

/** The signal without what belongs to another kind. */
export function sentSignal({ kind, column, values, purposes, vendor, optOuts }: Signal): Signal {
  const own = {
    values: { values: values ?? [] },
    tcf: { purposes: purposes ?? [], ...(vendor !== undefined && { vendor }) },
    gpp: optOuts && optOuts.length > 0 ? { optOuts } : {},
    usPrivacy: {},
  }
  return { kind, column, ...own[kind] }
}

/** A column that says whether a person agreed. */
export function SignalFields({
  place,
  signal,
  isOnly,
  error,
  onChange,
  onRemove,
}: {
  place: number
  signal: Signal
  isOnly: boolean
  error: string | undefined
  onChange: (signal: Signal) => void
  onRemove: () => void
}) {
  const name = say.signal(place + 1)
  return (
    <Card withBorder padding="md" component="fieldset" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" mih={28}>
          <Text fw={600} size="sm">
            {name}
          </Text>
          {!isOnly && (
            <ActionIcon variant="subtle" color="gray" aria-label={say.removeSignal(place + 1)} onClick={onRemove}>
              <IconTrash size={18} aria-hidden />
            </ActionIcon>
          )}
        </Group>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <TextInput
            label={say.column}
            value={signal.column}
            maxLength={limits.shapeTextLengthMax}
            required
            autoComplete="off"
            onChange={({ currentTarget }) => onChange({ ...signal, column: currentTarget.value })}
          />
          <Select
            label={say.kind}
            data={consentSignals.map((kind) => ({ value: kind, label: say.kinds[kind] }))}
            value={signal.kind}
            allowDeselect={false}
            onChange={(kind) => kind && onChange({ ...signal, kind: kind as Signal['kind'] })}
          />
        </SimpleGrid>
        <KindFields signal={signal} onChange={onChange} />
        {error && (
          <Text size="sm" c="red" role="alert">
            {error}
          </Text>
        )}
      </Stack>
    </Card>
  )
}

function KindFields({ signal, onChange }: { signal: Signal; onChange: (signal: Signal) => void }) {
  switch (signal.kind) {
    case 'values':
      return (
        <TagsInput
          label={say.values}
          description={say.valuesHelp}
          value={signal.values ?? []}
          maxTags={limits.purposeValuesMax}
          required
          onChange={(values) => onChange({ ...signal, values })}
        />
      )
    case 'tcf':
      return (
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <PickSeveral
            label={say.tcfPurposes}
            description={say.tcfHelp}
            data={tcfPurposes}
            value={(signal.purposes ?? []).map(String)}
            required
            onChange={(picked) => onChange({ ...signal, purposes: picked.map(Number) })}
          />
          <NumberInput
            label={say.vendor}
            description={say.vendorHelp}
            value={signal.vendor ?? ''}
            min={1}
            max={vendorMax}
            allowDecimal={false}
            onChange={(value) => {
              const { vendor: _, ...others } = signal
              onChange(value === '' ? others : { ...others, vendor: Number(value) })
            }}
          />
        </SimpleGrid>
      )
    case 'gpp':
      return (
        <PickSeveral
          label={say.optOuts}
          data={consentOptOuts.map((optOut) => ({ value: optOut, label: say.optOutNames[optOut] }))}
          value={signal.optOuts ?? [...consentOptOuts]}
          onChange={(picked) =>
            onChange({ ...signal, optOuts: consentOptOuts.filter((optOut) => picked.includes(optOut)) })
          }
        />
      )
    case 'usPrivacy':
      return null
  }
}
