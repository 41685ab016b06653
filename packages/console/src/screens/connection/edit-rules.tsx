import {
  ActionIcon,
  Button,
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
import {
  type Blackout,
  type ConnectionDetails,
  type ConnectionRule,
  limits,
  type RuleKey,
  ruleActions,
  ruleChecks,
  ruleKeys,
} from '@penstock/wire'
import { IconPlus, IconTrash } from '@tabler/icons-react'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { FormDialog } from '../../components/form-dialog.tsx'
import { connectionRules as say } from '../../strings/connection-rules.ts'
import { EditBlackout } from './edit-blackout.tsx'

type Draft = { readonly number: number; readonly rule: ConnectionRule }

const newRule: ConnectionRule = { check: 'rejected', action: 'stop', percent: 5 }

/** Sets all rules of the connection. */
export function EditRules({
  connection: { accountId, id },
  rules,
  blackout: saved,
  onClose,
}: {
  connection: ConnectionDetails
  rules: readonly ConnectionRule[]
  blackout: Blackout | null
  onClose: () => void
}) {
  const set = useWrite('setConnectionRules')
  const [drafts, setDrafts] = useState<readonly Draft[]>(() =>
    (rules.length > 0 || saved ? rules : [newRule]).map((rule, number) => ({ number, rule })),
  )
  const [blackout, setBlackout] = useState(saved)
  const add = () =>
    setDrafts([...drafts, { number: Math.max(-1, ...drafts.map(({ number }) => number)) + 1, rule: newRule }])
  const save = async () => {
    await set.mutateAsync({ accountId, id, body: { rules: drafts.map(({ rule }) => onlyKnown(rule)), blackout } })
    return say.saved
  }
  return (
    <FormDialog title={say.title} size="lg" onSubmit={save} onClose={onClose}>
      {(errorOf) => (
        <>
          {drafts.length === 0 && <Text size="sm">{say.none}</Text>}
          {drafts.map(({ number, rule }, place) => (
            <RuleFields
              key={number}
              place={place}
              rule={rule}
              error={errorOf(`rules.${place}`)}
              onChange={(changed) =>
                setDrafts(drafts.map((one) => (one.number === number ? { number, rule: changed } : one)))
              }
              onRemove={() => setDrafts(drafts.filter((one) => one.number !== number))}
            />
          ))}
          <Group>
            <Button
              variant="default"
              leftSection={<IconPlus size={16} aria-hidden />}
              disabled={drafts.length >= limits.rulesMax}
              onClick={add}
            >
              {say.add}
            </Button>
          </Group>
          <EditBlackout blackout={blackout} error={errorOf('blackout')} onChange={setBlackout} />
        </>
      )}
    </FormDialog>
  )
}

const keysOf = ({ check }: ConnectionRule): readonly RuleKey[] => {
  const { needs, oneOf, takes } = ruleKeys[check]
  return [...needs, ...oneOf, ...takes]
}

/** The rule without what belongs to another check. */
function onlyKnown(rule: ConnectionRule): ConnectionRule {
  const known: readonly string[] = ['check', 'action', ...keysOf(rule)]
  const entries = Object.entries(rule).filter(
    ([key, value]) => known.includes(key) && value !== undefined && value !== '',
  )
  return Object.fromEntries(entries) as ConnectionRule
}

function RuleFields({
  place,
  rule,
  error,
  onChange,
  onRemove,
}: {
  place: number
  rule: ConnectionRule
  error: string | undefined
  onChange: (rule: ConnectionRule) => void
  onRemove: () => void
}) {
  const name = say.rule(place + 1)
  return (
    <Card withBorder padding="md" component="fieldset" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap">
          <Text fw={600} size="sm">
            {name}
          </Text>
          <ActionIcon variant="subtle" color="gray" aria-label={say.remove(place + 1)} onClick={onRemove}>
            <IconTrash size={18} aria-hidden />
          </ActionIcon>
        </Group>
        <SimpleGrid cols={{ base: 1, sm: 2 }} spacing="sm">
          <Select
            label={say.check}
            data={ruleChecks.map((check) => ({ value: check, label: say.checks[check] }))}
            value={rule.check}
            allowDeselect={false}
            onChange={(check) => check && onChange({ ...rule, check: check as ConnectionRule['check'] })}
          />
          <Select
            label={say.action}
            data={ruleActions.map((action) => ({ value: action, label: say.actions[action] }))}
            value={rule.action}
            allowDeselect={false}
            onChange={(action) => action && onChange({ ...rule, action: action as ConnectionRule['action'] })}
          />
          {keysOf(rule).map((key) => (
            <RuleField key={key} name={key} rule={rule} onChange={onChange} />
          ))}
        </SimpleGrid>
        {(rule.check === 'volume' || rule.check === 'freshness') && (
          <Text size="xs" c="dimmed">
            {rule.check === 'volume' ? say.volumeHelp : say.freshnessHelp}
          </Text>
        )}
        {error && (
          <Text size="sm" c="red" role="alert">
            {error}
          </Text>
        )}
      </Stack>
    </Card>
  )
}

function RuleField({
  name,
  rule,
  onChange,
}: {
  name: RuleKey
  rule: ConnectionRule
  onChange: (rule: ConnectionRule) => void
}) {
  const label = rule.check === 'volume' && (name === 'min' || name === 'max') ? say.inPercent[name] : say.keys[name]
  const required = ruleKeys[rule.check].needs.includes(name)
  const without = () => {
    const { [name]: _, ...others } = rule
    return others
  }
  if (name === 'column') {
    return (
      <TextInput
        label={label}
        value={rule.column ?? ''}
        maxLength={limits.shapeTextLengthMax}
        required
        autoComplete="off"
        onChange={({ currentTarget }) => onChange({ ...rule, column: currentTarget.value })}
      />
    )
  }
  if (name === 'values') {
    return (
      <TagsInput
        label={label}
        value={rule.values ?? []}
        maxTags={limits.ruleValuesMax}
        required
        onChange={(values) => onChange({ ...rule, values })}
      />
    )
  }
  return (
    <NumberInput
      label={label}
      value={rule[name] ?? ''}
      required={required}
      allowDecimal={name !== 'count'}
      {...(name === 'percent' ? { min: 0, max: 100 } : name === 'count' || name === 'hours' ? { min: 0 } : {})}
      onChange={(value) => onChange(value === '' ? without() : { ...rule, [name]: Number(value) })}
    />
  )
}
