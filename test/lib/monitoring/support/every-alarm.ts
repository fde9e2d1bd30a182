/** Settings with which the stack has every alarm that it can have. */
export const withEveryAlarm = {
  domainName: "api.example.com",
  certificateArn: "arn:aws:acm:eu-west-1:123456789012:certificate/abc-123",
  deployment: "canary",
};
