import { Button, Card, Code, Group, Stack, Text, Title } from '@mantine/core'
import type { ConnectorDefinition, FieldDefinition } from '@penstock/wire'
import { IconCheck, IconX } from '@tabler/icons-react'
import { type ReactNode, useState } from 'react'
import { PrepareList } from '../../components/prepare-list.tsx'
import { WithCode } from '../../components/with-code.tsx'
import { connectorPage as say } from '../../strings/catalogue.ts'
import classes from './cards.module.css'
import { type Fact, sentencesOf, testsOf } from './facts.ts'

function Section({ title, help, children }: { title: string; help?: string; children: ReactNode }) {
  return (
    <Card withBorder padding="md" component="section" aria-label={title}>
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Title order={2} size="h5">
            {title}
          </Title>
          {help && (
            <Text size="sm" c="dimmed">
              {help}
            </Text>
          )}
        </Group>
        {children}
      </Stack>
    </Card>
  )
}

/** Facts as a list of terms; nothing without facts. */
export function FactsCard({ title, help, facts }: { title: string; help: string; facts: readonly Fact[] }) {
  if (facts.length === 0) return null
  return (
    <Section title={title} help={help}>
      <dl className={classes.facts}>
        {facts.map(({ label, values }) => (
          <div key={label} className={classes.fact}>
            <dt>{label}</dt>
            <dd>
              {values.map((value) => (
                <div key={value}>{value}</div>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

const notesShown = 5

/** The notes of a connector, a sentence each. */
export function NotesCard({ notes }: { notes: string }) {
  const [all, setAll] = useState(false)
  const sentences = sentencesOf(notes)
  return (
    <Section title={say.notes}>
      <ul className={classes.notes}>
        {(all ? sentences : sentences.slice(0, notesShown)).map((sentence) => (
          <li key={sentence}>
            <WithCode text={sentence} />
          </li>
        ))}
      </ul>
      {sentences.length > notesShown && (
        <Button variant="subtle" size="compact-sm" w="fit-content" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? say.fewerNotes : say.allNotes(sentences.length)}
        </Button>
      )}
    </Section>
  )
}

/** Fields and permissions that a person needs before connecting. */
export function NeedsCard({
  definition: { prepare, secretFields, authorization },
}: {
  definition: ConnectorDefinition
}) {
  const fields = secretFields.filter(({ readonly }) => !readonly)
  const required = fields.filter((field) => field.required)
  const optional = fields.length - required.length
  return (
    <Section title={say.need}>
      {prepare.length > 0 && <PrepareList prepare={prepare} />}
      {fields.length === 0 && <Text size="sm">{say.needNothing}</Text>}
      {authorization && (
        <Stack gap={4}>
          <Text size="sm">{say.signIn(authorization.platform)}</Text>
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {say.scopes}:{' '}
            {authorization.scopes.map((scope) => (
              <Code key={scope} mr={4}>
                {scope}
              </Code>
            ))}
          </Text>
        </Stack>
      )}
      {required.length > 0 && (
        <ol className={classes.notes}>
          {required.map((field) => (
            <li key={field.name}>
              <Text span size="sm" fw={600}>
                {field.label}
              </Text>
              <Text size="xs" c="dimmed">
                {[conditionsOf(field, secretFields), field.description].filter(Boolean).join(' · ')}
              </Text>
            </li>
          ))}
        </ol>
      )}
      {optional > 0 && (
        <Text size="sm" c="dimmed">
          {say.optional(optional)}
        </Text>
      )}
    </Section>
  )
}

/** When a field is needed, if not always. */
function conditionsOf({ when = {}, role }: FieldDefinition, fields: readonly FieldDefinition[]): string {
  const conditions = Object.entries(when).map(([name, values]) => {
    const other = fields.find((one) => one.name === name)
    return say.when(
      other?.label ?? name,
      values.map((value) => other?.optionLabels?.[value] ?? value),
    )
  })
  return [...(role ? [say.onlyAs[role]] : []), ...conditions].join(', ')
}

/** Tests of the connector, and parts that nobody else has checked. */
export function TestedCard({ tested }: { tested: string | null }) {
  const tests = tested === null ? [] : testsOf(tested)
  return (
    <Section title={say.tested}>
      {tests.length === 0 && <Text size="sm">{say.untested}</Text>}
      <ul className={classes.tests}>
        {tests.map(({ text, isChecked }) => (
          <li key={text}>
            {isChecked ? (
              <IconCheck size={16} aria-hidden color="var(--mantine-color-teal-filled)" />
            ) : (
              <IconX size={16} aria-hidden />
            )}
            <span>{text}</span>
          </li>
        ))}
      </ul>
      {tests.some(({ isChecked }) => !isChecked) && (
        <Text size="sm" c="dimmed">
          {say.testedHelp}
        </Text>
      )}
    </Section>
  )
}
