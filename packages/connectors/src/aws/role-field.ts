import { type Condition, text } from '@penstock/connector'
import { isRoleArn } from './role-arn.ts'

/** The role of AWS that the identity of the sub-account takes on. */
export const roleField = (when: Condition) =>
  text({
    keepsState: 'credential',
    identity: 'target',
    label: 'IAM role',
    description: 'ARN of the role that trusts this service, such as arn:aws:iam::123456789012:role/Name',
    required: true,
    when,
    wrong: (value) =>
      isRoleArn(value.trim()) ? undefined : 'must be the ARN of a role, such as arn:aws:iam::123456789012:role/Name',
  })
