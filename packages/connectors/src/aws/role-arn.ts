/** Whether a text is the ARN of an IAM role: `arn:aws:iam::123456789012:role/Name`. */
export const isRoleArn = (text: string): boolean => /^arn:[\w-]{1,20}:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/.test(text)
